package indexentity

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/viewname"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index is the lists of one property: the [patterns.View] that a [patterns.Store]
// keeps, and, by [Index.On], what reads it. It does not change once made, and may be
// used by any number of goroutines.
type Index[T any] struct {
	name  string
	value func(*T) (string, bool)
	opts  Options[T]
	codec *wire.Codec
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
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.local = true
	var zero T
	if _, _, ok := ix.codec.Keys(&zero); !ok && ix.opts.Key == nil && !ix.codec.Open() {
		return nil, fmt.Errorf("new index: %T has no fields PartitionKey and RowKey, and Options.Key is not set: %w", zero, patterns.ErrBadKey)
	}
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

const separator = "_"

func newIndex[T any](name string, value func(*T) (string, bool), opts []Options[T]) (*Index[T], error) {
	if err := viewname.Check(name); err != nil {
		return nil, err
	}
	switch {
	case value == nil:
		return nil, fmt.Errorf("function for the value: %w", patterns.ErrNil)
	case len(opts) > 1:
		return nil, errors.New("more than one Options")
	}
	codec, err := wire.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	ix := &Index[T]{name: name, value: value, codec: codec}
	if len(opts) == 1 {
		ix.opts = opts[0]
	}
	return ix, nil
}

// Name is the index's name, and the view's.
func (ix *Index[T]) Name() string { return ix.name }

// Shape says where the lists stand.
func (ix *Index[T]) Shape() patterns.Shape {
	s := patterns.Shape{Kind: patterns.Members, Remote: !ix.local, List: list{ix.local}}
	switch {
	case ix.blobs != nil:
		s.Target = &blobs{ix.name, ix.blobs}
	case ix.table != nil:
		s.Target = patterns.TableTarget(ix.name, ix.table)
	}
	return s
}

// Rows gives the list that e is in, or none.
func (ix *Index[T]) Rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.value(e)
	if !ok {
		return nil, nil
	}
	partition := ""
	if ix.local {
		primary, err := ix.primaryKey(e)
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

func (ix *Index[T]) primaryKey(e *T) (keys.Key, error) {
	if ix.opts.Key != nil {
		return ix.opts.Key(e)
	}
	pk, rk, ok := ix.codec.Keys(e)
	if !ok {
		return keys.Key{}, fmt.Errorf("the primary has no PartitionKey and RowKey: %w", patterns.ErrBadKey)
	}
	return keys.Key{Partition: pk, Row: rk}, nil
}

// place is where the list for a value stands; partition is that of the primaries.
func (ix *Index[T]) place(partition, value string) (keys.Key, error) {
	value = ix.fold(value)
	key := keys.Key{Partition: partition, Row: ix.name + separator + keys.Escape(value)}
	if !ix.local {
		key = keys.Key{Partition: ix.name + separator, Row: keys.Escape(value)}
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
	if ix.opts.Fold && strings.ToValidUTF8(value, "") == value {
		return strings.ToLower(value)
	}
	return value
}
