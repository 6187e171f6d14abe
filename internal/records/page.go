package records

import (
	"errors"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Page is decoded rows, as [fetch.Rows]. [Reader.Release] takes it back when nothing refers to its
// records any more.
type Page struct {
	Records []txn.Record // those of decoded that are left

	decoded []txn.Record
	values  reflect.Value // a slice: the memory for the next values
	used    int           // of values

	// The following is used while decoding.
	reader   *Reader
	selected []string
	meta     edm.Meta // of the last row
	unknown  edm.Unknown
	chooser  chooser
}

// chooser is the [edm.Chooser] of one row.
type chooser struct {
	of    *Reader
	value *any
}

func (c *chooser) Discriminator() string { return c.of.Property }

func (c *chooser) Choose(rowKey, text []byte, isText bool) any {
	*c.value = c.of.TypeOf(rowKey, text, isText)
	return *c.value
}

func (c *chooser) CodecOf(t reflect.Type) (*edm.Codec, error) { return c.of.codec.Of(t) }

func (p *Page) Len() int           { return len(p.Records) }
func (p *Page) Key(i int) keys.Key { return p.Records[i].Key }
func (p *Page) Trim(from, to int)  { p.Records = p.Records[from:to] }

// minPage is the least number of rows for which memory is reserved.
const minPage = 16

// page returns an empty Page for a reply of at most size rows.
func (r *Reader) page(size int) *Page {
	p, ok := r.pages.Get().(*Page)
	if !ok {
		p = &Page{reader: r}
	}
	if n := min(size, max(int(r.lastSize.Load()), minPage)); n > cap(p.decoded) {
		p.decoded = make([]txn.Record, 0, n)
		p.reserve(n)
	}
	return p
}

// reserve makes memory for n values.
func (p *Page) reserve(n int) { p.values, p.used = reflect.MakeSlice(p.reader.slice, n, n), 0 }

// Release makes the memory of p available to later pages. Nothing may refer to its records and
// their values.
func (r *Reader) Release(p *Page) {
	for i := range p.used {
		p.values.Index(i).SetZero()
	}
	clear(p.decoded)
	p.Records, p.decoded, p.used = nil, p.decoded[:0], 0
	p.selected, p.meta, p.unknown, p.chooser = nil, edm.Meta{}, edm.Unknown{}, chooser{}
	r.pages.Put(p)
}

// next completes the last record and adds one for the next row. It returns where to decode the row.
func (p *Page) next() (any, *edm.Meta, *edm.Unknown) {
	p.finish()
	if p.used == p.values.Len() {
		p.reserve(2 * max(p.used, minPage)) // the earlier values stay where they are
	}
	value := p.values.Index(p.used).Addr().Interface()
	p.used++
	p.decoded = append(p.decoded, txn.Record{Value: value})
	if p.reader.Sent {
		p.meta.Sent = new([]byte)
	}
	if p.reader.TypeOf != nil {
		p.chooser = chooser{p.reader, value.(*any)}
		value = &p.chooser
	}
	return value, &p.meta, &p.unknown
}

// finish completes the last record, whose value has been decoded.
func (p *Page) finish() {
	if len(p.decoded) == 0 {
		return
	}
	record := &p.decoded[len(p.decoded)-1]
	record.Key = keys.Key{Partition: p.meta.PartitionKey, Row: p.meta.RowKey}
	if record.ETag = p.meta.ETag; p.reader.bare {
		record.ETag = unreadETag
	}
	record.Timestamp = p.meta.Timestamp
	record.Origin = p.reader.origins.New(&p.meta, &p.unknown, p.selected, p.reader.Stamped)
	if p.reader.Sent {
		var o txn.Origin
		if record.Origin != nil {
			o = *record.Origin
		}
		o.Sent = *p.meta.Sent
		record.Origin = &o
	}
}

// unreadETag is the ETag of a record that was read without metadata. It is not empty, which a
// delete would take as any version, but malformed, so that writes refuse it.
const unreadETag = "not read"

// misfit decides about err, with which decoding the last row failed: it is nil if the row
// is not a primary of the store that reads it, and therefore dropped later.
func (p *Page) misfit(err error) error {
	set := p.reader.primaries
	if !errors.As(err, new(*types.PropertyError)) || set == nil {
		return err
	}
	r := &txn.Record{Key: keys.Key{Partition: p.meta.PartitionKey, Row: p.meta.RowKey}, Origin: &txn.Origin{Unknown: p.unknown}}
	if ok, failed := set.IsPrimary(r, false); ok || failed != nil {
		return err
	}
	return nil
}

// Page decodes a page of a query; see [fetch.PageDecoder].
func (d *pageDecoder) Page(body []byte, size int, selected []string, partition *string) (fetch.Rows, error) {
	r := (*Reader)(d)
	p := r.page(size)
	p.selected = selected
	var err error
	if r.bare {
		err = r.codec.DecodeBarePage(body, partition, p.next)
	} else {
		err = r.codec.DecodeMixedPage(body, p.next, p.misfit)
	}
	if err != nil {
		return nil, err
	}
	p.finish()
	p.Records = p.decoded
	r.lastSize.Store(int64(len(p.Records)))
	return p, nil
}

// Entity decodes the reply to a point read; see [fetch.PageDecoder].
func (d *pageDecoder) Entity(etag string, body []byte) (fetch.Rows, error) {
	r := (*Reader)(d)
	p := r.page(1)
	value, meta, unknown := p.next()
	err := r.codec.DecodeEntity(body, value, meta, unknown)
	if err != nil {
		err = p.misfit(err)
	}
	if err != nil {
		return nil, err
	}
	if etag != "" {
		meta.ETag = etag
	}
	p.finish()
	p.Records = p.decoded
	return p, nil
}

// Join returns the records of all parts; see [fetch.PageDecoder].
func (d *pageDecoder) Join(parts []fetch.Rows) fetch.Rows {
	p := (*Reader)(d).page(len(parts))
	for _, part := range parts {
		p.decoded = append(p.decoded, part.(*Page).Records...)
	}
	p.Records = p.decoded
	return p
}
