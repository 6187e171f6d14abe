package indexentity

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Index contains, for each value, the list of the entities with that value: a
// [patterns.View], which a [patterns.Store] keeps up to date. [Index.On] returns its
// reader. An Index is immutable and safe for concurrent use.
type Index[T any] struct {
	def   indexed.Definition[T]
	opts  string            // what defines the index, for the Version of its Shape
	local bool              // lists are in the primaries' partitions
	table *aztables.Client  // nil for the primaries' own
	blobs *container.Client // nil for rows
}

// Options are the options of [SamePartition], [OtherPartition] and [InBlob]. nil and the
// zero value mean the defaults.
type Options[T any] struct {
	// Fold ignores the difference between upper and lower case: values are converted by
	// [strings.ToLower], in the names of lists and in lookups.
	Fold bool

	// Key, for SamePartition, returns the key of an entity; set it to what
	// [patterns.TableOptions.Key] is. If nil, T needs string fields named, or tagged,
	// PartitionKey and RowKey.
	Key func(*T) (keys.Key, error)

	// Partition, for OtherPartition only, returns the name of the partition of the index
	// that contains a value, for example its first letter or a hash. It must be a pure
	// function. If Fold is set, it receives the folded value. The partition key is the
	// index's name, "_" and the result.
	//
	// If nil, the name is empty: one partition contains all lists.
	Partition func(value string) string

	// Version identifies the functions, of which nothing else is known; see
	// [patterns.Shape.Version]. The other options are part of the definition anyway.
	Version string
}

// SamePartition returns an index whose lists are in the primaries' own partitions and
// change in the same transaction. There is one list for each value and partition. value
// returns the value to index, and false if the entity is not in the index; it must be a
// pure function. name begins the row keys. It has 1 to 64 letters, digits, '-' and '.',
// and must differ from that of every other index in the table.
//
// SamePartition makes no request. The error names the option that is invalid.
func SamePartition[T any](name string, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err == nil {
		err = ix.hasOnePartition()
	}
	if err == nil {
		err = ix.def.NeedsKey()
	}
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.local = true
	return ix, nil
}

// OtherPartition returns an index with one list for each value, in other partitions: of
// table, which may be in another account, or, if table is nil, of the primaries' own
// table. The lists are updated through the [patterns.StoreOptions.Outbox]. name begins
// the partition keys. Otherwise OtherPartition is like [SamePartition].
func OtherPartition[T any](name string, table *aztables.Client, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	ix, err := newIndex(name, value, opts)
	if err != nil {
		return nil, fmt.Errorf("new index: %w", err)
	}
	ix.table = table
	return ix, nil
}

// InBlob returns an index with one list for each value, each in a blob of the container:
// name/value.json. The lists are updated through the [patterns.StoreOptions.Outbox]. They
// have no limit, but every change rewrites the blob. Otherwise InBlob is like
// [SamePartition].
func InBlob[T any](name string, blobs *container.Client, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
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

func newIndex[T any](name string, value func(*T) (string, bool), opts *Options[T]) (*Index[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	ix := &Index[T]{def: indexed.Definition[T]{Name: name, Value: value, Fold: o.Fold, Key: o.Key, Partition: o.Partition}}
	ix.opts = fmt.Sprintf("%t %t %q", o.Fold, o.Partition != nil, o.Version)
	return ix, ix.def.Init()
}

// hasOnePartition refuses an option that would have no effect.
func (ix *Index[T]) hasOnePartition() error {
	if ix.def.Partition != nil {
		return azerr.Errorf("%w: Options.Partition is for OtherPartition", azerr.ErrBadOption)
	}
	return nil
}

// Name returns the name of the index, which is also that of the view.
func (ix *Index[T]) Name() string { return ix.def.Name }

// Shape returns what all lists have in common; see [patterns.View].
func (ix *Index[T]) Shape() patterns.Shape {
	s := patterns.Shape{Kind: patterns.Members, Remote: !ix.local, List: ix.list(), Version: fmt.Sprintf("%t %s", ix.local, ix.opts)}
	switch {
	case ix.blobs != nil:
		s.Target = ix.blobTarget()
	case ix.table != nil:
		s.Target = patterns.TableTarget(ix.def.Name, ix.table)
	}
	return s
}

func (ix *Index[T]) list() list { return list{local: ix.local} }

func (ix *Index[T]) blobTarget() *blobTarget { return &blobTarget{ix.def.Name, ix.blobs} }

// Rows returns the list that contains e, or none if e is not in the index; see
// [patterns.View].
func (ix *Index[T]) Rows(e *T) ([]patterns.DerivedRow, error) {
	value, ok := ix.def.Value(e)
	if !ok {
		return nil, nil
	}
	partition := ""
	if ix.local {
		primary, err := ix.def.Primary(e)
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
		row = ix.def.Name + indexed.Separator + row
	}
	if err := keys.Check("indexed value", row); err != nil {
		return keys.Key{}, err
	}
	if !ix.local {
		partition = ix.def.PartitionKey(ix.def.PartitionOf(value, ""))
	}
	key := keys.Key{Partition: partition, Row: row}
	return key, key.Validate()
}
