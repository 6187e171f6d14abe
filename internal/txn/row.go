package txn

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Row is a row as it was read. The zero Row is one that does not exist.
type Row struct {
	ETag string
	Body []byte
}

// Absent reports that there is no row.
func (r Row) Absent() bool { return r.ETag == "" }

// ReadRow reads the row at key. A missing row is not an error. One request.
func ReadRow(ctx context.Context, c *wire.Client, key keys.Key) (Row, error) {
	var r Row
	err := c.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		r.ETag, r.Body = etag, append([]byte(nil), body...)
		return nil
	})
	if errors.Is(err, azerr.ErrNotFound) {
		return Row{}, nil
	}
	return r, err
}

// LearnTime makes sure that c knows the time of the service, which any reply shows. At most one request.
func LearnTime(ctx context.Context, c *wire.Client) error {
	if _, known := c.ServiceTime(); known {
		return nil
	}
	_, err := ReadRow(ctx, c, keys.Key{Partition: "~azp", Row: "~azp"})
	return err
}

// ReadRange calls yield with the properties of each row of a range in a partition, without the keys and
// the Timestamp: with the named one, or with all if name is "". It makes one request for each page, that
// is, for up to 1000 rows.
func ReadRange(ctx context.Context, c *wire.Client, partition string, rows keys.Range, name string, yield func(keys.Key, edm.Properties) error) error {
	q := wire.Query{Filter: wire.RangeFilter(partition, rows.From, rows.To)}
	if name != "" {
		q.Select = "PartitionKey,RowKey,Timestamp," + name
	}
	for {
		var page []*edm.ContentBuffer
		next, err := c.Query(ctx, q, func(body []byte) error {
			page = nil // this may be a second attempt
			return edm.PropertiesCodec().DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
				page = append(page, new(edm.ContentBuffer))
				return page[len(page)-1].Dst()
			})
		})
		for i := 0; err == nil && i < len(page); i++ {
			m := &page[i].Meta
			err = yield(keys.Key{Partition: m.PartitionKey, Row: m.RowKey}, page[i].Content().Properties)
		}
		if err != nil || next == (wire.Position{}) {
			return err
		}
		q.Next = next
	}
}

// Content takes the row apart. A missing row is an empty one.
func (r Row) Content() (edm.Content, error) {
	if r.Absent() {
		return edm.Content{Properties: edm.Properties{}}, nil
	}
	return edm.ContentOf(r.Body)
}

// OverWith is [Over] with a content.
func OverWith(key keys.Key, r Row, c edm.Content) (wire.Write, error) {
	body, err := c.Encode(key)
	return Over(key, r, body), err
}

// Over returns the write that stores body at key in place of r: an insert if r is
// absent, otherwise a replace on condition that the row is still r.
func Over(key keys.Key, r Row, body []byte) wire.Write {
	w := wire.Write{Kind: wire.Replace, PartitionKey: key.Partition, RowKey: key.Row, Body: body, ETag: r.ETag}
	if r.Absent() {
		w.Kind = wire.Insert
	}
	return w
}

// Delete returns the write that deletes the row at key if it has the ETag.
func Delete(key keys.Key, etag string) wire.Write {
	return wire.Write{Kind: wire.Delete, PartitionKey: key.Partition, RowKey: key.Row, ETag: etag}
}

// NewID returns a random name for an operation.
func NewID() string { return rand.Text() }
