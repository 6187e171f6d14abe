package secondaryindex

import (
	"errors"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index is a secondary index: the [patterns.View] that a [patterns.Store] keeps, and,
// by [Index.On], what reads it. It does not change once made, and may be used by any
// number of goroutines.
type Index[T any] struct {
	by     indexed.By[T]
	opts   Options[T]
	layout layout
	intra  bool
	table  *aztables.Client // nil for the primary's own
}

// Options are the options of [Intra] and [Inter]. The zero value means the defaults:
// values are unique, and copies full.
type Options[T any] struct {
	// NonUnique lets several primaries have the same value. The row key then ends in
	// the primary's key. Without it a second primary with a value is refused with
	// [*patterns.DuplicateError].
	NonUnique bool

	// Fold takes upper and lower case for the same, as [strings.ToLower] does: in
	// the row key and in what is looked up. The copy itself keeps what it says.
	Fold bool

	// Only names the properties that copies have, for a slim index. nil means all
	// that T has a field for.
	Only []string

	// Key gives a primary's key. Without it T needs string fields named, or tagged,
	// PartitionKey and RowKey. Give it what [patterns.TableOptions.Key] was given.
	Key func(*T) (keys.Key, error)

	// Partition, for Inter only, gives the partition of the index that the primary's
	// copy goes to: by first letter, by hash, or "" for all of them in one. It must
	// be pure. Without it that is the primary's partition key. The index's name and
	// "_" come in front of it.
	Partition func(*T) string
}

// Intra makes an index by value whose rows stand in the primary's own partition, and
// change in the same transaction. value says false where the primary is not to be in
// the index; it must be pure. name, of 1 to 64 letters, digits, '-' and '.', begins
// the row keys, and must differ from that of any other index in the table: with "_"
// behind them no two of them begin alike.
//
// At most one Options is taken. Intra makes no request; the error names what cannot be.
func Intra[T any](name string, value func(*T) (string, bool), opts ...Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err == nil && ix.opts.Partition != nil {
		err = errors.New("Options.Partition is for Inter")
	}
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.intra = true
	ix.layout.lead = name + indexed.Separator
	return ix, nil
}

// Inter makes an index by value whose rows stand in other partitions: of table, which
// may be of another account, or, where table is nil, of the primary's own table. They
// follow through the [patterns.StoreOptions.Outbox]. All else is as for [Intra]; name
// begins the partition keys.
func Inter[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts ...Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.table = table
	return ix, nil
}

func newIndex[T any](name string, value func(*T) (string, bool), opts []Options[T]) (*Index[T], error) {
	by, o, err := indexed.New(name, value, opts)
	if err != nil {
		return nil, err
	}
	by.KeyOf = o.Key
	for _, name := range o.Only {
		if !by.Codec.Open() && !slices.ContainsFunc(by.Codec.Fields(), func(f edm.Field) bool { return f.Name == name }) {
			return nil, fmt.Errorf("Options.Only: %w", &patterns.PropertyError{Property: name, Want: "a property of the type", Got: "an unknown name"})
		}
	}
	o.Only = slices.Clone(o.Only)
	ix := &Index[T]{by: by, opts: o, layout: layout{fold: o.Fold, shared: o.NonUnique}}
	if ix.needsKey() {
		err = by.HasKey()
	}
	return ix, err
}

// needsKey reports whether a copy's key depends on the primary's.
func (ix *Index[T]) needsKey() bool { return ix.opts.Partition == nil || ix.opts.NonUnique }

// Name is the index's name, and the view's.
func (ix *Index[T]) Name() string { return ix.by.Name }

// Shape says where the rows stand.
func (ix *Index[T]) Shape() patterns.Shape {
	s := patterns.Shape{Kind: patterns.Copies, Remote: !ix.intra}
	if ix.table != nil {
		s.Target = patterns.TableTarget(ix.by.Name, ix.table)
	}
	return s
}

// Rows gives the copy of e, or none where it has no value.
func (ix *Index[T]) Rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.by.Value(e)
	if !ok {
		return nil, nil
	}
	key, err := ix.place(e, value)
	if err != nil {
		return nil, err
	}
	return []patterns.DerivedRow{patterns.CopyRow(key, patterns.Copy{Only: ix.opts.Only, Unique: !ix.opts.NonUnique})}, nil
}

// place is the key of e's copy.
func (ix *Index[T]) place(e *T, value string) (keys.Key, error) {
	var primary keys.Key
	if ix.needsKey() {
		var err error
		if primary, err = ix.by.Key(e); err != nil {
			return keys.Key{}, err
		}
	}
	partition, suffix := primary.Partition, primary.Row
	if ix.opts.Partition != nil {
		partition = ix.opts.Partition(e)
		suffix = keys.Escape(primary.Partition) + indexed.Separator + primary.Row
	}
	row, err := ix.layout.row(value, suffix)
	return keys.Key{Partition: ix.partition(partition), Row: row}, err
}

// partition is the index's partition of that name.
func (ix *Index[T]) partition(name string) string {
	if ix.intra {
		return name
	}
	return ix.by.Name + indexed.Separator + name
}
