package txn

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

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

// ReadRange calls yield with the properties of each row of a range in a partition, without the keys and
// the Timestamp: with the named one, or with all if name is "". It makes one request for each page, that
// is, for up to 1000 rows.
func ReadRange(ctx context.Context, c *wire.Client, partition string, rows keys.Range, name string, yield func(keys.Key, edm.Properties) error) error {
	q := wire.Query{Filter: wire.RangeFilter(partition, rows.From, rows.To)}
	if name != "" {
		q.Select = "PartitionKey,RowKey,Timestamp," + name
	}
	type read struct {
		properties map[string]any
		meta       edm.Meta
	}
	for {
		var page []*read
		next, err := c.Query(ctx, q, func(body []byte) error {
			page = nil // this may be a second attempt
			return edm.PropertiesCodec().DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
				r := new(read)
				page = append(page, r)
				return &r.properties, &r.meta, nil
			})
		})
		for i := 0; err == nil && i < len(page); i++ {
			r := page[i]
			for _, system := range []string{"PartitionKey", "RowKey", "Timestamp"} {
				delete(r.properties, system)
			}
			err = yield(keys.Key{Partition: r.meta.PartitionKey, Row: r.meta.RowKey}, r.properties)
		}
		if err != nil || next == (wire.Position{}) {
			return err
		}
		q.Next = next
	}
}

// Content is a row taken apart, to be changed and written back.
type Content struct {
	edm.Properties
	Stamp string
	At    time.Time   // of the last write
	texts edm.Unknown // of properties that are written as they were read
}

// Content takes the row apart. A missing row is an empty one.
func (r Row) Content() (Content, error) {
	if r.Absent() {
		return Content{Properties: edm.Properties{}}, nil
	}
	return ContentOf(r.Body)
}

// ContentOf takes apart a row that this library has encoded or read.
func ContentOf(body []byte) (Content, error) {
	p, m, texts, err := edm.ReadRow(body)
	return Content{p, m.Stamp, m.Timestamp, texts}, err
}

// TextsOf returns c with the spellings that other has of the properties for which from returns true, and with its own of all others.
func (c Content) TextsOf(other Content, from func(name string) bool) Content {
	c.texts = c.texts.TextsOf(&other.texts, from)
	return c
}

// Text returns a text property, "" if there is none.
func (c Content) Text(name string) string {
	text, _ := c.Properties[name].(string)
	return text
}

// Over returns the write that stores c at key in place of r.
func (c Content) Over(key keys.Key, r Row) (wire.Write, error) {
	body, err := c.Encode(key)
	return Over(key, r, body), err
}

// Encode returns the row at key with that content, in the JSON of the Table service.
func (c Content) Encode(key keys.Key) ([]byte, error) {
	return edm.AppendProperties(nil, c.Properties, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Stamp: c.Stamp, Unknown: &c.texts})
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
