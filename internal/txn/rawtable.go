package txn

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Content is a row taken apart, for the packages that do not see [edm].
type Content = edm.Content

// RawTable is a table whose rows are read and written with all their properties, whatever
// Go types they were written from. The outcome of its writes is not resolved: an error
// that leaves it open is an Unsure [types.Error]. It is safe for concurrent use.
type RawTable struct{ client *wire.Client }

// NewRawTable returns the table of client. It makes no request.
func NewRawTable(client *aztables.Client) *RawTable {
	return &RawTable{wire.NewClient(client)}
}

// Get reads the row at key, or fails with [azerr.ErrNotFound]. One request.
func (t *RawTable) Get(ctx context.Context, key keys.Key) (c Content, etag string, err error) {
	err = t.client.Get(ctx, key.Partition, key.Row, func(version string, body []byte) (err error) {
		etag = version
		c, err = edm.ContentOf(body)
		return err
	})
	return c, etag, err
}

// Insert stores c as a new row and returns its ETag. One request.
func (t *RawTable) Insert(ctx context.Context, key keys.Key, c Content) (etag string, err error) {
	return t.write(ctx, wire.Insert, key, c, "")
}

// Replace replaces the row at key by c if it has the ETag, and returns the new ETag. One
// request.
func (t *RawTable) Replace(ctx context.Context, key keys.Key, c Content, etag string) (newETag string, err error) {
	return t.write(ctx, wire.Replace, key, c, etag)
}

func (t *RawTable) write(ctx context.Context, kind wire.Kind, key keys.Key, c Content, etag string) (string, error) {
	body, err := c.Encode(key)
	if err != nil {
		return "", err
	}
	return t.client.Write(ctx, wire.Write{Kind: kind, PartitionKey: key.Partition, RowKey: key.Row, Body: body, ETag: etag})
}

// Delete deletes the row at key if it has the ETag. One request.
func (t *RawTable) Delete(ctx context.Context, key keys.Key, etag string) error {
	_, err := t.client.Write(ctx, Delete(key, etag))
	return err
}

// Same reports whether t and u are known to be the same table. Addresses are known after
// the first request. Table names are case-insensitive.
func (t *RawTable) Same(u *RawTable) bool {
	a, okA := t.client.Address()
	b, okB := u.client.Address()
	return okA && okB && strings.EqualFold(a.Base, b.Base)
}
