package indexentity

import (
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index is the lists of one property: the [patterns.View] that a [patterns.Store]
// keeps, and, by [Index.On], what reads it. It does not change once made, and may be
// used by any number of goroutines.
type Index[T any] struct {
	by    indexed.By[T]
	opts  Options[T]
	local bool
	table *aztables.Client  // nil for the primary's own
	blobs *container.Client // nil for rows
}

// Options are the options of [SamePartition], [OtherPartition] and [InBlob]. The zero
// value means the defaults.
type Options[T any] struct {
	// Fold takes upper and lower case for the same, as [strings.ToLower] does.
	Fold bool

	// Key, for SamePartition, gives a primary's key. Without it T needs string fields
	// named, or tagged, PartitionKey and RowKey. Give it what
	// [patterns.TableOptions.Key] was given.
	Key func(*T) (keys.Key, error)

	// Partition, for OtherPartition, gives the partition of the list for a value, so
	// that not all lists share one: by first letter, or by hash. It must be pure. The
	// index's name and "_" come in front of it. Without it that is all.
	Partition func(value string) string

	// Parallel is how many members [Reader.Entities] reads at once. Zero means 8.
	Parallel int
}

// SamePartition makes an index whose lists stand in the primaries' own partitions and
// change in the same transaction: one list for each value and partition. value says
// false where the primary is not to be in the index; it must be pure. name, of 1 to 64
// letters, digits, '-' and '.', begins the row keys.
//
// At most one Options is taken. No request; the error names what cannot be.
func SamePartition[T any](name string, value func(*T) (string, bool), opts ...Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err == nil {
		err = ix.hasOnePartition()
	}
	if err == nil {
		err = ix.by.HasKey()
	}
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.local = true
	return ix, nil
}

// OtherPartition makes an index with one list for each value, in partitions of its own
// of table, which may be of another account; where table is nil, of the primaries'
// table. The lists follow through the [patterns.StoreOptions.Outbox]. All else is as
// for [SamePartition]; name begins the partition keys.
func OtherPartition[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts ...Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.table = table
	return ix, nil
}

// InBlob makes an index with one list for each value, each in a blob of the
// container: name/value.json. They follow through the outbox, and have no limit of
// their own but what can be rewritten at each change.
func InBlob[T any](name string, blobs *container.Client, value func(*T) (string, bool), opts ...Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err == nil && blobs == nil {
		err = fmt.Errorf("container: %w", patterns.ErrNil)
	}
	if err == nil {
		err = ix.hasOnePartition()
	}
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.blobs = blobs
	return ix, nil
}

// hasOnePartition refuses an option that would have no effect.
func (ix *Index[T]) hasOnePartition() error {
	if ix.opts.Partition != nil {
		return errors.New("Options.Partition is for OtherPartition")
	}
	return nil
}

func newIndex[T any](name string, value func(*T) (string, bool), opts []Options[T]) (*Index[T], error) {
	by, o, err := indexed.New(name, value, opts)
	by.KeyOf = o.Key
	return &Index[T]{by: by, opts: o}, err
}

// Name is the index's name, and the view's.
func (ix *Index[T]) Name() string { return ix.by.Name }

// Shape says where the lists stand.
func (ix *Index[T]) Shape() patterns.Shape {
	s := patterns.Shape{Kind: patterns.Members, Remote: !ix.local, List: list{ix.local}}
	switch {
	case ix.blobs != nil:
		s.Target = &blobs{ix.by.Name, ix.blobs}
	case ix.table != nil:
		s.Target = patterns.TableTarget(ix.by.Name, ix.table)
	}
	return s
}

// Rows gives the list that e is in, or none.
func (ix *Index[T]) Rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.by.Value(e)
	if !ok {
		return nil, nil
	}
	partition := ""
	if ix.local {
		primary, err := ix.by.Key(e)
		if err != nil {
			return nil, err
		}
		partition = primary.Partition
	}
	key, err := ix.place(partition, value)
	if err != nil {
		return nil, err
	}
	return []patterns.DerivedRow{patterns.MemberRow(key)}, nil
}

// place is where the list for a value stands; partition is that of the primaries.
func (ix *Index[T]) place(partition, value string) (keys.Key, error) {
	value = ix.fold(value)
	key := keys.Key{Partition: partition, Row: ix.by.Name + indexed.Separator + keys.Escape(value)}
	if !ix.local {
		key = keys.Key{Partition: ix.by.Name + indexed.Separator, Row: keys.Escape(value)}
		if ix.opts.Partition != nil {
			key.Partition += ix.opts.Partition(value)
		}
	}
	if err := keys.Check("indexed value", key.Row); err != nil {
		return keys.Key{}, err
	}
	return key, key.Validate()
}

func (ix *Index[T]) fold(value string) string {
	if ix.opts.Fold {
		return indexed.Fold(value)
	}
	return value
}
