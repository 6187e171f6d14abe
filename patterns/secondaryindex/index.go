package secondaryindex

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index is a secondary index: a [patterns.View], which a [patterns.Store] keeps up to
// date. [Index.On] returns its reader. An Index is immutable and safe for concurrent use.
type Index[T any] struct {
	def    indexed.Definition[T]
	only   []string
	layout layout
	opts   string // what defines the index, for the Version of its Shape
	intra  bool
	table  *aztables.Client // nil for the primaries' own
}

// Options are the options of [Intra] and [Inter]. nil and the zero value mean the
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

	// Only names the properties of copies, for a slim index. nil means all that T has a
	// field for.
	Only []string

	// Key returns the key of an entity; set it to what [patterns.TableOptions.Key] is. If
	// nil, T needs string fields named, or tagged, PartitionKey and RowKey.
	Key func(*T) (keys.Key, error)

	// Partition, for Inter only, returns the name of the partition of the index that
	// contains a value, for example its first letter or a hash. It must be a pure
	// function. If Fold is set, it receives the folded value. The partition key is the
	// index's name, "_" and the result.
	//
	// If nil, the name is the primary's partition key.
	Partition func(value string) string

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
// Intra makes no request. The error names the option or the property that is invalid.
func Intra[T any](name string, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err == nil && ix.def.Partition != nil {
		err = azerr.Errorf("%w: Options.Partition is for Inter", azerr.ErrBadOption)
	}
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.intra = true
	ix.layout.lead = name + indexed.Separator
	return ix, nil
}

// Inter returns an index whose copies are in other partitions: of table, which may be in
// another account, or, if table is nil, of the primaries' own table. They are updated
// through the [patterns.StoreOptions.Outbox]. name begins the partition keys. Otherwise
// Inter is like [Intra].
func Inter[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.table = table
	return ix, nil
}

func newIndex[T any](name string, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	ix := &Index[T]{
		def:    indexed.Definition[T]{Name: name, Value: value, Fold: o.Fold, Key: o.Key, Partition: o.Partition},
		only:   slices.Clone(o.Only),
		layout: layout{fold: o.Fold, shared: o.NonUnique},
	}
	ix.opts = fmt.Sprintf("%t %t %t %t %q %q", o.NonUnique, o.Fold, o.Partition != nil, o.Only != nil, o.Only, o.Version)
	if err := ix.def.Init(); err != nil {
		return nil, err
	}
	for _, property := range ix.only {
		if !ix.def.Type.MayHave(property) {
			return nil, fmt.Errorf("Options.Only: %w", &patterns.PropertyError{Property: property, Want: "a property of the type", Got: "an unknown name"})
		}
	}
	if ix.needsKey() {
		return ix, ix.def.NeedsKey()
	}
	return ix, nil
}

// needsKey reports whether a copy's key depends on the primary's.
func (ix *Index[T]) needsKey() bool { return ix.def.Partition == nil || ix.layout.shared }

// Name returns the name of the index, which is also that of the view.
func (ix *Index[T]) Name() string { return ix.def.Name }

// Shape returns what all copies have in common; see [patterns.View].
func (ix *Index[T]) Shape() patterns.Shape {
	s := patterns.Shape{Kind: patterns.Copies, Remote: !ix.intra, Version: fmt.Sprintf("%t %s", ix.intra, ix.opts)}
	if ix.table != nil {
		s.Target = patterns.TableTarget(ix.def.Name, ix.table)
	}
	return s
}

// Rows returns the copy of e, or none if e is not in the index; see [patterns.View].
func (ix *Index[T]) Rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.def.Value(e)
	if !ok {
		return nil, nil
	}
	key, err := ix.key(e, value)
	if err != nil {
		return nil, err
	}
	return []patterns.DerivedRow{patterns.CopyRow(key, patterns.CopySpec{Only: ix.only, Unique: !ix.layout.shared})}, nil
}

// key returns the key of e's copy.
func (ix *Index[T]) key(e *T, value string) (keys.Key, error) {
	var primary keys.Key
	if ix.needsKey() {
		var err error
		if primary, err = ix.def.Primary(e); err != nil {
			return keys.Key{}, err
		}
	}
	suffix := primary.Row
	if ix.def.Partition != nil {
		suffix = keys.Escape(primary.Partition) + indexed.Separator + primary.Row
	}
	row, err := ix.layout.row(value, suffix)
	if err != nil {
		return keys.Key{}, err
	}
	return keys.Key{Partition: ix.partitionKey(ix.def.PartitionOf(value, primary.Partition)), Row: row}, nil
}

// partitionKey returns the partition key of the named partition of the index.
func (ix *Index[T]) partitionKey(partition string) string {
	if ix.intra {
		return partition
	}
	return ix.def.PartitionKey(partition)
}
