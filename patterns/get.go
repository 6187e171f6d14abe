package patterns

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// Get reads the row at key, or fails with [ErrNotFound]. One request, the
// cheapest there is.
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	return t.rows.get(ctx, key)
}

// rows reads rows of one table into values of T. It is what [Table] and [Reader]
// have in common.
type rows[T any] struct {
	wire   *wire.Client
	codec  *edm.Codec
	schema query.Schema // of the filters; nil where any name may be asked for
	only   []string     // the properties to ask for, nil for all
	stamps bool         // items remember the row's write stamps

	slabs sync.Pool    // of *[]Item[T], for pages whose rows are yielded one by one
	seen  atomic.Int64 // rows in the last page, the guess for the next
}

const minSlab = 16

// slab gives an empty slice for a page of at most size rows.
func (r *rows[T]) slab(size int) []Item[T] {
	if s, ok := r.slabs.Get().(*[]Item[T]); ok {
		return *s
	}
	return make([]Item[T], 0, min(size, max(int(r.seen.Load()), minSlab)))
}

// recycle takes back a slab whose items nobody refers to any more. What came of a
// point read is too small to be one.
func (r *rows[T]) recycle(items []Item[T]) {
	if cap(items) < minSlab {
		return
	}
	clear(items)
	items = items[:0]
	r.slabs.Put(&items)
}

func (r *rows[T]) get(ctx context.Context, key keys.Key) (Item[T], error) {
	var item Item[T]
	if err := key.Validate(); err != nil {
		return item, fmt.Errorf("get: %w", err)
	}
	if r.only != nil {
		return r.getProjected(ctx, key)
	}
	var meta edm.Meta
	var rest edm.Unknown
	err := r.wire.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		item, meta, rest = Item[T]{}, edm.Meta{}, edm.Unknown{} // this may be a second try
		if err := r.codec.DecodeEntity(body, &item.Value, &meta, &rest); err != nil {
			return err
		}
		if meta.PartitionKey != key.Partition || meta.RowKey != key.Row {
			return fmt.Errorf("%w: another row than asked for", ErrBadReply)
		}
		if etag != "" {
			meta.ETag = etag
		}
		return nil
	})
	if err != nil {
		return Item[T]{}, err
	}
	r.finish(&item, &meta, &rest, nil)
	return item, nil
}

// getProjected reads a part of one row. Only a query can ask for a part; one for
// an exact key is a point query all the same.
func (r *rows[T]) getProjected(ctx context.Context, key keys.Key) (Item[T], error) {
	exact := query.And(query.PartitionKey.Eq(key.Partition), query.RowKey.Eq(key.Row))
	for item, err := range r.query(ctx, exact, nil) {
		return item, err
	}
	return Item[T]{}, fmt.Errorf("get: %w", ErrNotFound)
}

// finish completes an item whose value has been decoded.
func (r *rows[T]) finish(item *Item[T], meta *edm.Meta, rest *edm.Unknown, selected []string) {
	item.Key = keys.Key{Partition: meta.PartitionKey, Row: meta.RowKey}
	item.ETag = azcore.ETag(meta.ETag)
	item.Timestamp = meta.Timestamp
	if !rest.IsZero() || selected != nil || r.stamps && meta.Stamp != "" {
		item.origin = &origin{rest: *rest, stamp: meta.Stamp, version: item.ETag, selected: selected}
	}
}
