package secondaryindex

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index is a secondary index: a [patterns.View], which a [patterns.Store] keeps up to
// date. [Index.On] returns its reader. An Index is immutable and safe for concurrent use. It
// can be a variable of a package if it needs no client.
type Index[T any] struct {
	def    naming.Definition[T]
	only   []string
	copied func(*T) T                          // may be nil
	owner  func(*T, keys.Key) (keys.Key, bool) // may be nil
	adopt  patterns.Adopt
	shared *Index[T] // Options.Duplicates
	layout layout
	opts   string // what defines the index, for the Version of its Shape
	intra  bool
	table  *aztables.Client // nil for the primaries' own
}

// Options are the options of [Intra], [Inter] and [Lookup]. nil and the zero value mean the
// defaults: values are unique, and copies are full.
type Options[T any] struct {
	// NonUnique permits several primaries with the same value. The row key then ends in
	// the primary's key. Without it, a second primary with a value is refused with
	// [*patterns.DuplicateError].
	NonUnique bool

	// Fold ignores the difference between upper and lower case: values are converted by
	// [strings.ToLower], in row keys and in lookups. The properties of a copy are not
	// converted.
	Fold bool

	// Only names the properties of copies, for a slim index. nil means all that the primary
	// has: see [patterns.CopySpec].
	Only []string

	// Key returns the key of an entity; set it to what [patterns.TableOptions.Key] is. If
	// nil, T needs string fields named, or tagged, PartitionKey and RowKey. An Index is declared
	// before the table of its primaries, and may be used with several, so it cannot ask a table.
	Key func(*T) (keys.Key, error)

	// Partition, for Inter only, returns the partition key of the row that contains a value,
	// for example the index's name and the first letter of the value. partition is the
	// partition key of the primary. If Fold is set, Partition receives the folded value. It
	// must be a pure function. Package indexentity has the same option.
	//
	// If nil, the partition key is the index's name, "_" and the primary's partition key.
	Partition func(partition, value string) string

	// Copy returns what the copy of a primary contains, if that is not the primary itself:
	// for example a property that is part of the primary's key. Only then selects from the
	// result. It must be a pure function, and must not change what primary refers to. Members
	// of JSON that T lacks are copied only with fields that it leaves as they are: see
	// [patterns.CopySpec].
	Copy func(primary *T) T

	// Owner selects the layout of programs that were written by hand: copies have no
	// properties azp_pk, azp_rk and azp_view. It returns the key of the primary of the copy
	// at the key at, usually from a property of the copy, and false if copy does not
	// contain it. It must be a pure function. A property that T cannot decode is zero in copy.
	//
	// While a value is reserved, a copy outside the primary's partition has those properties
	// nevertheless; see [patterns.CopySpec].
	Owner func(copy *T, at keys.Key) (primary keys.Key, ok bool)

	// Adopt selects what becomes of rows that another program has stored at the keys of
	// copies, that have no azp_view, and that Owner does not recognize.
	Adopt patterns.Adopt

	// Duplicates, for an index whose values are unique and which is added to a table in which
	// entities share values, is an index of the same values that is NonUnique, and a view of the
	// same store. It contains all entities of each value while the duplicates are resolved: see
	// package reindex. Until this index is ready, all programs that write set Duplicates. Then
	//
	//   - an entity with a value that another one had already can be changed, although it has no
	//     copy in this index,
	//   - no entity can take a value that any other entity has: [*patterns.DuplicateError].
	//
	// A change that takes a value makes one request more, and one for each other entity that
	// Duplicates contains with the value. Duplicates needs the same Fold and, if Partition is set,
	// a Partition of its own.
	Duplicates *Index[T]

	// RemoveSuperfluous, for Lookup only, lets readers remove rows without an entity that they meet, if
	// they are older than [patterns.StoreOptions.Expiry]: at most 10 for each 1,000 rows, a request each.
	// [patterns.Store.Sweep] removes all.
	RemoveSuperfluous bool

	// Version identifies the functions, of which nothing else is known; see
	// [patterns.Shape.Version]. The other options are part of the definition anyway.
	Version string
}

// Intra returns an index whose copies are in the primary's own partition and change in
// the same transaction. value returns the value to index, and false if the entity is not
// in the index; it must be a pure function. name begins the row keys. It has 1 to 64
// letters, digits, '-' and '.', and must differ from that of every other index in the
// table.
//
// Intra makes no request. If an argument or an option is invalid, [patterns.NewStore] returns
// an error that names it.
func Intra[T any](name string, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	ix := newIndex(name, value, opts)
	if ix.def.Partition != nil {
		ix.def.Refuse(azerr.Errorf("%w: Options.Partition is for Inter", azerr.ErrBadOption))
	}
	ix.intra = true
	ix.layout.lead = name + naming.Separator
	return ix
}

// Inter returns an index whose copies are in other partitions: of table, which may be in
// another account, or, if table is nil, of the primaries' own table. They are updated
// through the [patterns.StoreOptions.Outbox]. name begins the partition keys. Otherwise
// Inter is like [Intra].
func Inter[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	ix := newIndex(name, value, opts)
	ix.table = table
	return ix
}

func newIndex[T any](name string, value func(*T) (string, bool), opts *Options[T]) *Index[T] {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	ix := &Index[T]{
		def:    naming.Definition[T]{Name: name, Value: value, Fold: o.Fold, Key: o.Key, Partition: o.Partition},
		only:   slices.Clone(o.Only),
		copied: o.Copy,
		owner:  o.Owner,
		adopt:  o.Adopt,
		layout: layout{fold: o.Fold, shared: o.NonUnique},
	}
	partition := "false"
	if o.Partition != nil {
		partition = "key"
	}
	ix.opts = fmt.Sprintf("%t %t %s %t %q %q", o.NonUnique, o.Fold, partition, o.Only != nil, o.Only, o.Version)
	if o.Copy != nil {
		ix.opts += " copy"
	}
	ix.def.Init()
	if d := o.Duplicates; d != nil {
		if o.NonUnique || !d.layout.shared || d.layout.fold != o.Fold || d.def.Partition == nil && o.Partition != nil {
			ix.def.Refuse(azerr.Errorf("%w: Options.Duplicates: want an index that is NonUnique, for one that is not, with the same Fold, and with a Partition if there is one", azerr.ErrBadOption))
		}
		ix.shared = d
	}
	for _, property := range ix.only {
		if ix.def.Err() == nil && !ix.def.Type.MayHave(property) {
			ix.def.Refuse(fmt.Errorf("Options.Only: %w", &patterns.PropertyError{Property: property, Want: "a property of the type", Got: "an unknown name"}))
		}
	}
	ix.def.NeedsKey()
	return ix
}

// Name returns the name of the index, which is also that of the view.
func (ix *Index[T]) Name() string { return ix.def.Name }

// Engine is for the Store; see [patterns.View].
func (ix *Index[T]) Engine() (*view.View, error) {
	s := patterns.Shape{Kind: patterns.Copies, Remote: !ix.intra, Adopt: ix.adopt, Version: fmt.Sprintf("%t %s", ix.intra, ix.opts)}
	if ix.owner != nil {
		s.Plain, s.Owner = true, ix.ownerOfRow
	}
	if ix.table != nil {
		s.Target = patterns.TableTarget(ix.def.Name, ix.table)
	}
	return &view.View{
		Name: ix.def.Name, Shape: s, Layout: view.Layout{Only: ix.only, Has: ix.hasKey},
		Rows: func(e any) ([]patterns.DerivedRow, error) { return ix.rows(e.(*T)) },
	}, ix.def.Err()
}

// hasKey reports whether a copy can have the key.
func (ix *Index[T]) hasKey(key keys.Key) bool {
	_, ok := ix.layout.value(key.Row)
	return ok && (ix.intra || ix.def.Partition != nil || strings.HasPrefix(key.Partition, ix.partitionKey("")))
}

// rows returns the copy of e, or none if e is not in the index.
func (ix *Index[T]) rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.def.Value(e)
	if !ok {
		return nil, nil
	}
	key, err := ix.key(e, value)
	if err != nil {
		return nil, err
	}
	spec := patterns.CopySpec{Only: ix.only, Unique: !ix.layout.shared}
	if ix.copied != nil {
		spec.Entity = ix.content(e)
	}
	if d := ix.shared; d != nil {
		primary, err := ix.def.Primary(e)
		if err != nil {
			return nil, err
		}
		rows, err := d.layout.exactly(value)
		if err != nil {
			return nil, err
		}
		spec.Shared = patterns.SharedRows{View: d.def.Name, Partition: d.partitionOf(primary.Partition, value), Rows: rows}
	}
	return []patterns.DerivedRow{patterns.CopyRow(key, spec)}, nil
}

// content returns what the copy of e contains.
func (ix *Index[T]) content(e *T) *T {
	if ix.copied == nil {
		return e
	}
	content := ix.copied(e)
	return &content
}

// key returns the key of e's copy.
func (ix *Index[T]) key(e *T, value string) (keys.Key, error) {
	primary, err := ix.def.Primary(e)
	if err != nil {
		return keys.Key{}, err
	}
	suffix := primary.Row
	if ix.def.Partition != nil {
		suffix = keys.Escape(primary.Partition) + naming.Separator + primary.Row
	}
	row, err := ix.layout.row(value, suffix)
	if err != nil {
		return keys.Key{}, err
	}
	return keys.Key{Partition: ix.partitionOf(primary.Partition, value), Row: row}, nil
}

// partitionOf returns the partition key of the row of value. partition is that of the
// primaries.
func (ix *Index[T]) partitionOf(partition, value string) string {
	return ix.def.PartitionOf(partition, value, ix.partitionKey(partition))
}

// partitionKey returns the partition key of the rows of a partition, which the callers of a
// [Reader] name.
func (ix *Index[T]) partitionKey(partition string) string {
	if ix.intra || ix.def.Partition != nil {
		return partition
	}
	return ix.def.Name + naming.Separator + partition
}

// ownerOfRow is the Owner of the Shape of a plain index.
func (ix *Index[T]) ownerOfRow(key keys.Key, row func() map[string]any) (primary keys.Key, ok bool) {
	if _, ok := ix.layout.value(key.Row); !ok {
		return primary, false
	}
	properties := row()
	e, err := ix.def.Type.FromProperties(properties, key)
	for wrong := (*patterns.PropertyError)(nil); errors.As(err, &wrong); {
		if _, exists := properties[wrong.Property]; !exists {
			break
		}
		delete(properties, wrong.Property) // T cannot decode it: Owner gets the others
		e, err = ix.def.Type.FromProperties(properties, key)
	}
	if err != nil {
		return primary, false
	}
	return ix.ownerOf(e.(*T), key)
}

// ownerOf returns the primary of a copy without azp_pk and azp_rk. ok is false if a row at
// that key is not a copy of that primary.
func (ix *Index[T]) ownerOf(row *T, key keys.Key) (primary keys.Key, ok bool) {
	value, ok := ix.layout.value(key.Row)
	if !ok || ix.owner == nil {
		return primary, false
	}
	if primary, ok = ix.owner(row, key); !ok || primary == key {
		return primary, false
	}
	return primary, ix.partitionOf(primary.Partition, value) == key.Partition
}
