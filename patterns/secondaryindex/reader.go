package secondaryindex

import (
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Reader reads an index. It may be used by any number of goroutines.
//
// Where a method asks for the partition, that is the partition key of the primaries,
// or what [Options.Partition] gives.
type Reader[T any] struct {
	index *Index[T]
	store *patterns.Store[T]
	table *patterns.Table[T] // of the copies
}

// On gives the reader of ix in store, of whose views ix must be one: else it fails with
// [patterns.ErrBadView]. It makes no request.
func (ix *Index[T]) On(store *patterns.Store[T]) (*Reader[T], error) {
	if ix == nil || store == nil {
		return nil, fmt.Errorf("read index: index or store: %w", patterns.ErrNil)
	}
	table, err := indexed.Rows[T](store, ix, ix.table)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return &Reader[T]{index: ix, store: store, table: table}, nil
}

// Entry is a primary as an index has it: its copy.
type Entry[T any] struct {
	// Value is the copy. Its fields PartitionKey and RowKey, if it has them, hold
	// the primary's key. In a slim index the properties not copied are zero.
	Value T

	// Indexed is the value it is found by; in lower case where the index folds.
	Indexed string

	// Primary is the key of the primary.
	Primary keys.Key

	// Key, ETag and Timestamp are those of the copy's own row.
	Key       keys.Key
	ETag      azcore.ETag
	Timestamp time.Time
}

// ErrNonUnique: one row was asked for, of an index that may have several.
var ErrNonUnique = errors.New("the index is not unique")

// entry is what a row of the index says; ok is false where the row is not to be
// seen: it only reserves its key, or is none of the index.
func (r *Reader[T]) entry(item patterns.Item[T]) (e Entry[T], ok bool) {
	owner, ok := view.OwnerOf(func(name string) (string, bool) {
		value, _ := item.Property(name)
		text, ok := value.(string)
		return text, ok
	})
	if !ok || owner.Reserved || owner.View != r.index.by.Name {
		return e, false
	}
	value, ok := r.index.layout.value(item.Key.Row)
	if !ok {
		return e, false
	}
	r.index.by.Codec.SetKeys(&item.Value, owner.Primary.Partition, owner.Primary.Row)
	return Entry[T]{
		Value: item.Value, Indexed: value, Primary: owner.Primary,
		Key: item.Key, ETag: item.ETag, Timestamp: item.Timestamp,
	}, true
}
