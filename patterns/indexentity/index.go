package indexentity

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index contains, for each value, the list of the entities with that value: a
// [patterns.View], which a [patterns.Store] keeps up to date. [Index.On] returns its
// reader. An Index is immutable and safe for concurrent use. It can be a variable of a package
// if it needs no client.
type Index[T any] struct {
	def   naming.Definition[T]
	opts  string // what defines the index, for the Version of its Shape
	local bool   // lists are in the primaries' partitions
	bare  bool   // row keys of local lists do not contain the name
	plain bool   // rows do not contain azp_view
	adopt patterns.Adopt
	list  list
	table *aztables.Client  // nil for the primaries' own
	blobs *container.Client // nil for rows
}

// Options are the options of [Intra], [Inter] and [InterBlob]. nil and the
// zero value mean the defaults.
type Options[T any] struct {
	// Fold ignores the difference between upper and lower case: values are converted by
	// [strings.ToLower], in the names of lists and in lookups.
	Fold bool

	// Key, for Intra, Partition and Separator, returns the key of an entity; set it to
	// what [patterns.TableOptions.Key] is. If nil, T needs string fields named, or tagged,
	// PartitionKey and RowKey. An Index is declared before the table of its primaries, and may be
	// used with several, so it cannot ask a table.
	Key func(*T) (keys.Key, error)

	// Partition, for Inter only, returns the partition key of the row that contains
	// a value, for example the index's name and the first letter of the value, or the guide's
	// constant "indexentities". partition is the partition key of the primary. If Fold is
	// set, Partition receives the folded value. It must be a pure function. Package
	// secondaryindex has the same option.
	//
	// If nil, the partition key is the index's name and "_": one partition contains all lists.
	Partition func(partition, value string) string

	// Property is the name of the property that contains a list, "Members" if empty. A list
	// that is longer than a property permits continues in others, with the suffixes 02, 03, …
	Property string

	// Separator, if not empty, separates the members in the property, as in
	// "000152,000231". An entity whose key is empty, or contains the separator, is refused
	// with [keys.ErrBadKey]. Without a separator the members are a JSON array.
	Separator string

	// Bare, for Intra only, omits the index's name and "_" from row keys. An entity
	// and a list cannot have the same row key then.
	Bare bool

	// Plain stores lists without the property azp_view.
	Plain bool

	// Adopt selects what becomes of a row at the key of a list that has no azp_view and is
	// no list of the index: with [patterns.AdoptLeave] the operation succeeds and the entity
	// is missing from the list, otherwise the row is refused. A list without azp_view, a row
	// that has only the properties of a list, is always adopted.
	Adopt patterns.Adopt

	// Version identifies the functions, of which nothing else is known; see
	// [patterns.Shape.Version]. The other options are part of the definition anyway.
	Version string
}

// Intra returns an index whose lists are in the primaries' own partitions and
// change in the same transaction. There is one list for each value and partition. value
// returns the value to index, and false if the entity is not in the index; it must be a
// pure function. name begins the row keys. It has 1 to 64 letters, digits, '-' and '.',
// and must differ from that of every other index in the table.
//
// Intra makes no request. If an argument or an option is invalid, [patterns.NewStore] returns
// an error that names it.
func Intra[T any](name string, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	ix := newIndex(name, value, opts)
	ix.refuse(ix.def.Partition != nil, "Partition is for Inter")
	ix.def.NeedsKey()
	ix.local, ix.list.local = true, true
	return ix
}

// Inter returns an index with one list for each value, in other partitions: of
// table, which may be in another account, or, if table is nil, of the primaries' own
// table. The lists are updated through the [patterns.StoreOptions.Outbox]. name begins
// the partition keys. Otherwise Inter is like [Intra].
func Inter[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	ix := newIndex(name, value, opts)
	ix.refuse(ix.bare, "Bare is for Intra")
	ix.refuse(strings.Contains(ix.list.separator, memberSeparator), `Separator contains "/", which separates the parts of a key`)
	if ix.needsKey() {
		ix.def.NeedsKey()
	}
	ix.table = table
	return ix
}

// InterBlob returns an index with one list for each value, each in a blob of the container:
// name/value.json. The lists are updated through the [patterns.StoreOptions.Outbox]. They
// have no limit, but every change rewrites the blob. Otherwise InterBlob is like
// [Intra].
func InterBlob[T any](name string, blobs *container.Client, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	ix := newIndex(name, value, opts)
	if blobs == nil {
		ix.def.Refuse(fmt.Errorf("container: %w", patterns.ErrNil))
	}
	ix.refuse(ix.def.Partition != nil, "Partition is for Inter")
	ix.refuse(ix.bare || ix.plain || ix.list != list{} || ix.adopt != patterns.AdoptEqual, "Property, Separator, Bare, Plain and Adopt are for rows")
	ix.blobs = blobs
	return ix
}

func newIndex[T any](name string, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	ix := &Index[T]{
		def:   naming.Definition[T]{Name: name, Value: value, Fold: o.Fold, Key: o.Key, Partition: o.Partition},
		list:  list{name: o.Property, separator: o.Separator},
		bare:  o.Bare,
		plain: o.Plain,
		adopt: o.Adopt,
	}
	partition := "false"
	if o.Partition != nil {
		partition = "key"
	}
	ix.opts = fmt.Sprintf("%t %s %q", o.Fold, partition, o.Version)
	if o.Bare || o.Property != "" || o.Separator != "" {
		ix.opts += fmt.Sprintf(" %t %q %q", o.Bare, o.Property, o.Separator)
	}
	if o.Property != "" {
		if err := view.CheckPropertyName(o.Property); err != nil {
			ix.def.Refuse(fmt.Errorf("Options.Property: %w", err))
		}
	}
	ix.def.Init()
	return ix
}

// refuse refuses the index if an option is wrong, for that reason.
func (ix *Index[T]) refuse(wrong bool, reason string) {
	if wrong {
		ix.def.Refuse(azerr.Errorf("%w: Options.%s", azerr.ErrBadOption, reason))
	}
}

// Name returns the name of the index, which is also that of the view.
func (ix *Index[T]) Name() string { return ix.def.Name }

// Engine is for the Store; see [patterns.View].
func (ix *Index[T]) Engine() (*view.View, error) {
	s := patterns.Shape{
		Kind: patterns.Members, Remote: !ix.local, List: ix.list,
		Plain: ix.plain, Owner: ix.isList, Adopt: ix.adopt,
		Version: fmt.Sprintf("%t %s", ix.local, ix.opts),
	}
	switch {
	case ix.blobs != nil:
		s.Target = ix.blobTarget()
	case ix.table != nil:
		s.Target = patterns.TableTarget(ix.def.Name, ix.table)
	}
	return &view.View{Name: ix.def.Name, Shape: s, Rows: func(e any) ([]patterns.DerivedRow, error) { return ix.rows(e.(*T)) }}, ix.def.Err()
}

// isList is the Owner of the Shape: it reports whether the row has only the properties of a
// list, and its key is one of the index.
func (ix *Index[T]) isList(key keys.Key, row func() map[string]any) (keys.Key, bool) {
	switch {
	case ix.local && !strings.HasPrefix(key.Row, ix.lead()):
		return keys.Key{}, false
	case !ix.local && ix.def.Partition == nil && key.Partition != ix.lead():
		return keys.Key{}, false
	}
	return keys.Key{}, ix.list.isIn(row())
}

// lead begins the row keys of local lists. It is the partition key of other lists if there
// is no Options.Partition.
func (ix *Index[T]) lead() string {
	if ix.bare {
		return ""
	}
	return ix.def.Name + naming.Separator
}

// needsKey reports whether the list of an entity depends on the entity's key.
func (ix *Index[T]) needsKey() bool {
	return ix.local || ix.def.Partition != nil || ix.list.separator != ""
}

func (ix *Index[T]) blobTarget() *blobTarget { return &blobTarget{ix.def.Name, ix.blobs} }

// rows returns the list that contains e, or none if e is not in the index.
func (ix *Index[T]) rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.def.Value(e)
	if !ok {
		return nil, nil
	}
	partition := ""
	if ix.needsKey() {
		primary, err := ix.def.Primary(e)
		if err == nil {
			err = ix.list.check(primary)
		}
		if err != nil {
			return nil, err
		}
		partition = primary.Partition
	}
	key, err := ix.key(partition, value)
	if err != nil {
		return nil, err
	}
	return []patterns.DerivedRow{patterns.MemberRow(key)}, nil
}

// key returns the key of the list of a value. partition is the partition key of the
// primaries.
func (ix *Index[T]) key(partition, value string) (keys.Key, error) {
	row := keys.Escape(ix.def.Normalize(value))
	if ix.local {
		row = ix.lead() + row
	} else {
		partition = ix.def.PartitionOf(partition, value, ix.lead())
	}
	if err := keys.Check("indexed value", row); err != nil {
		return keys.Key{}, err
	}
	key := keys.Key{Partition: partition, Row: row}
	return key, key.Validate()
}
