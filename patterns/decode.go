package patterns

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// rowDecoder decodes replies into items. It is a [fetch.Decoder].
type rowDecoder[T any] struct {
	codec   *edm.Codec
	stamped bool // items remember the row's write stamps
	bare    bool // replies have no metadata
	sent    bool // items remember the text of their row

	// primaries, if set, are the rows of a Store that [fetch.View] will keep. Rows that are
	// not among them need not fit the type.
	primaries *view.Set

	// discriminator, if set, chooses the Go types of rows. T is any then.
	discriminator *Discriminator

	origins  txn.Origins
	buffers  sync.Pool    // of *itemBuffer[T], for pages whose items are yielded one by one
	lastSize atomic.Int64 // rows of the last page, the guess for the next
}

// minBuffer is the least number of items for which a buffer is worth reusing.
const minBuffer = 16

// itemBuffer is decoded items, as [fetch.Rows].
type itemBuffer[T any] struct {
	items []Item[T]

	// The following is used while decoding.
	decoder  *rowDecoder[T]
	selected []string
	meta     edm.Meta // of the last item
	unknown  edm.Unknown
	chooser  chooser
}

// chooser is the [edm.Chooser] of one row.
type chooser struct {
	of    *Discriminator
	value *any
}

func (c *chooser) Discriminator() string { return c.of.Property }

func (c *chooser) Choose(rowKey, text []byte, isText bool) any {
	*c.value = c.of.Type(rowKey, text, isText)
	return *c.value
}

func (b *itemBuffer[T]) Len() int           { return len(b.items) }
func (b *itemBuffer[T]) Key(i int) keys.Key { return b.items[i].Key }

func (b *itemBuffer[T]) Trim(from, to int) {
	clear(b.items[to:]) // release clears only what is left
	b.items = b.items[from:to]
}

// buffer returns an empty buffer for a page of at most size rows.
func (d *rowDecoder[T]) buffer(size int) *itemBuffer[T] {
	if b, ok := d.buffers.Get().(*itemBuffer[T]); ok {
		return b
	}
	return &itemBuffer[T]{decoder: d, items: make([]Item[T], 0, min(size, max(int(d.lastSize.Load()), minBuffer)))}
}

// release makes a buffer available to later pages. Nothing may refer to its items.
func (d *rowDecoder[T]) release(b *itemBuffer[T]) {
	if cap(b.items) < minBuffer {
		return
	}
	clear(b.items)
	b.items, b.meta, b.unknown = b.items[:0], edm.Meta{}, edm.Unknown{}
	d.buffers.Put(b)
}

func (d *rowDecoder[T]) Page(body []byte, size int, selected []string, partition *string) (fetch.Rows, error) {
	b := d.buffer(size)
	b.selected = selected
	var err error
	if d.bare {
		err = d.codec.DecodeBarePage(body, partition, b.next)
	} else {
		err = d.codec.DecodeMixedPage(body, b.next, b.misfit)
	}
	if err != nil {
		return nil, err
	}
	b.finish()
	d.lastSize.Store(int64(len(b.items)))
	return b, nil
}

// next completes the last item and adds one for the next row.
func (b *itemBuffer[T]) next() (any, *edm.Meta, *edm.Unknown) {
	b.finish()
	if n := len(b.items); n < cap(b.items) {
		b.items = b.items[:n+1] // release has cleared it
	} else {
		b.items = append(b.items, Item[T]{})
	}
	return b.target(), &b.meta, &b.unknown
}

// target returns where to decode the value of the last item.
func (b *itemBuffer[T]) target() any {
	if b.decoder.sent {
		b.meta.Sent = new([]byte)
	}
	value := &b.items[len(b.items)-1].Value
	if d := b.decoder.discriminator; d != nil {
		b.chooser = chooser{d, any(value).(*any)}
		return &b.chooser
	}
	return value
}

// finish completes the last item, whose value has been decoded.
func (b *itemBuffer[T]) finish() {
	if len(b.items) == 0 {
		return
	}
	item := &b.items[len(b.items)-1]
	item.Key = keys.Key{Partition: b.meta.PartitionKey, Row: b.meta.RowKey}
	if item.ETag = azcore.ETag(b.meta.ETag); b.decoder.bare {
		item.ETag = unreadETag
	}
	item.Timestamp = b.meta.Timestamp
	if o := b.decoder.origins.New(&b.meta, &b.unknown, b.selected, b.decoder.stamped); o != nil {
		item.origin, item.read = o, item.ETag
	}
	if b.decoder.sent {
		var o txn.Origin
		if item.origin != nil {
			o = *item.origin
		}
		o.Sent = *b.meta.Sent
		item.origin = &o
	}
}

// unreadETag is the ETag of an item that was read without metadata. It is not empty, which a
// Delete would take as any version, but malformed, so that writes refuse it.
const unreadETag azcore.ETag = "not read"

// misfit decides about err, with which decoding the last item failed: it is nil if the row
// is not a primary of the Store that reads it, and therefore dropped later.
func (b *itemBuffer[T]) misfit(err error) error {
	set := b.decoder.primaries
	if !errors.As(err, new(*types.PropertyError)) || set == nil {
		return err
	}
	r := &txn.Record{Key: keys.Key{Partition: b.meta.PartitionKey, Row: b.meta.RowKey}, Origin: &txn.Origin{Unknown: b.unknown}}
	if ok, failed := set.IsPrimary(r, false); ok || failed != nil {
		return err
	}
	return nil
}

func (d *rowDecoder[T]) Entity(etag string, body []byte) (fetch.Rows, error) {
	one := new(struct {
		itemBuffer[T]
		item [1]Item[T]
	})
	b := &one.itemBuffer
	b.decoder, b.items = d, one.item[:]
	err := d.codec.DecodeEntity(body, b.target(), &b.meta, &b.unknown)
	if err != nil {
		err = b.misfit(err)
	}
	if err != nil {
		return nil, err
	}
	if etag != "" {
		b.meta.ETag = etag
	}
	b.finish()
	return b, nil
}

func (d *rowDecoder[T]) Join(parts []fetch.Rows) fetch.Rows {
	n := 0
	for _, p := range parts {
		n += p.Len()
	}
	items := make([]Item[T], 0, n)
	for _, p := range parts {
		items = append(items, p.(*itemBuffer[T]).items...)
	}
	return &itemBuffer[T]{decoder: d, items: items}
}

// rowReader reads rows of one table as items. It is what [Table] and [Reader] have in
// common.
type rowReader[T any] struct {
	source  *fetch.Source
	decoder rowDecoder[T]
}

func newRowReader[T any](source *fetch.Source, codec *edm.Codec, stamped bool) *rowReader[T] {
	return &rowReader[T]{source: source, decoder: rowDecoder[T]{codec: codec, stamped: stamped, bare: source.Bare()}}
}
