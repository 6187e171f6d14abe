package fetch

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Entry is a row with its properties by name, those of the library included.
type Entry struct {
	Key  keys.Key
	ETag string
	edm.Content
}

// Encode returns the row in the JSON of the Table service.
func (e *Entry) Encode() ([]byte, error) { return e.Content.Encode(e.Key) }

// Properties reads the rows that f matches as property maps, for internal work such as
// sweeps, whatever Go type the rows were written from. f and opts may name any property.
// It makes the requests of [ReadPlan.Run].
func Properties(ctx context.Context, c *wire.Client, f query.Filter, opts *types.QueryOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		codec := edm.PropertiesCodec()
		p, err := NewSource(c, codec).Plan(f, opts)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		p.Run(ctx, entryDecoder{codec}, func(rows Rows, err error) bool {
			if err != nil {
				return yield(Entry{}, err)
			}
			for _, e := range *rows.(*entries) {
				if !yield(e, nil) {
					return false
				}
			}
			return true
		})
	}
}

// PropertiesPage reads one page of the same rows from a cursor, as [ReadPlan.Page] does.
func PropertiesPage(ctx context.Context, c *wire.Client, f query.Filter, opts *types.QueryOptions, cursor string) (page []Entry, next string, err error) {
	codec := edm.PropertiesCodec()
	p, err := NewSource(c, codec).Plan(f, opts)
	if err != nil {
		return nil, "", err
	}
	rows, next, err := p.Page(ctx, entryDecoder{codec}, cursor)
	if rows != nil {
		page = *rows.(*entries)
	}
	return page, next, err
}

// Snapshot reads the first page of the rows that f matches in one request, which is a snapshot
// if all are in one partition. f is sent as it is; names, if not "", are the properties to read. more reports whether there may be others.
func Snapshot(ctx context.Context, c *wire.Client, f query.Filter, names string) (page []Entry, more bool, err error) {
	next, err := c.Query(ctx, wire.Query{Filter: f.String(), Select: names}, func(body []byte) error {
		rows, err := entryDecoder{edm.PropertiesCodec()}.Page(body, 0, nil, nil)
		if err == nil {
			page = *rows.(*entries)
		}
		return err
	})
	return page, next != (wire.Position{}), err
}

// ScanProperties reads the same rows as [Properties], as [ReadPlan.Scan] does, and calls yield
// for each page. Of a hundred requests, at most five are to divide the table. If sequential is
// set it requests a page when the caller is done with the one before, so that a scan which is
// interrupted and resumed reads at most one page again.
func ScanProperties(ctx context.Context, c *wire.Client, f query.Filter, opts *types.QueryOptions, sequential bool, cursor string, yield func([]Entry, ScanPage, error) bool) {
	codec := edm.PropertiesCodec()
	p, err := NewSource(c, codec).Plan(f, opts)
	if err != nil {
		yield(nil, ScanPage{}, err)
		return
	}
	p.maxExtra = 5
	if p.sequential = sequential; sequential {
		p.parallel = 1
	}
	p.Scan(ctx, entryDecoder{codec}, cursor, func(page ScanPage, err error) bool {
		if err != nil {
			return yield(nil, page, err)
		}
		return yield(*page.Rows.(*entries), page, nil)
	})
}

// DivideProperties returns cursors of [ScanProperties], as [ReadPlan.Divide] does.
func DivideProperties(ctx context.Context, c *wire.Client, f query.Filter, opts *types.QueryOptions, n int) ([]string, error) {
	p, err := NewSource(c, edm.PropertiesCodec()).Plan(f, opts)
	if err != nil {
		return nil, err
	}
	return p.Divide(ctx, n)
}

// entries are Rows.
type entries []Entry

func (e *entries) Len() int           { return len(*e) }
func (e *entries) Key(i int) keys.Key { return (*e)[i].Key }
func (e *entries) Trim(from, to int)  { *e = (*e)[from:to] }

// entryDecoder is the PageDecoder of entries.
type entryDecoder struct{ codec *edm.Codec }

func (d entryDecoder) Page(body []byte, _ int, _ []string, _ *string) (Rows, error) {
	var read []*edm.ContentBuffer
	err := d.codec.DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
		read = append(read, new(edm.ContentBuffer))
		return read[len(read)-1].Dst()
	})
	if err != nil {
		return nil, err
	}
	rows := make(entries, len(read))
	for i, b := range read {
		rows[i] = entryOf(b)
	}
	return &rows, nil
}

func (d entryDecoder) Entity(etag string, body []byte) (Rows, error) {
	var b edm.ContentBuffer
	dst, m, unknown := b.Dst()
	if err := d.codec.DecodeEntity(body, dst, m, unknown); err != nil {
		return nil, err
	}
	if etag != "" {
		m.ETag = etag
	}
	return &entries{entryOf(&b)}, nil
}

func (entryDecoder) Join(parts []Rows) Rows {
	var all entries
	for _, p := range parts {
		all = append(all, *p.(*entries)...)
	}
	return &all
}

func entryOf(b *edm.ContentBuffer) Entry {
	return Entry{keys.Key{Partition: b.Meta.PartitionKey, Row: b.Meta.RowKey}, b.Meta.ETag, b.Content()}
}
