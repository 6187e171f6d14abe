package eventual

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// Row names a row to be moved, and which one it must be at that time. It is the
// message of a move.
//
// A message may be late, or come again when the move is long done and the row was
// created anew: "archive employee 456" must not archive the employee who was hired
// again. ETag or Where tells the two apart; with neither, whatever row has the key
// is moved.
type Row struct {
	PartitionKey string `json:"pk"`
	RowKey       string `json:"rk"`

	// ETag is the one version to be moved. A row that was changed since is not.
	ETag azcore.ETag `json:"etag,omitempty"`

	// Where is a filter, in the text that package query gives, which the row must
	// match: for what stays the same over changes and differs after a new creation,
	// such as an operation or a contract number. Such a row is moved as it is then.
	Where string `json:"where,omitempty"`
}

func (r Row) key() keys.Key { return keys.Key{Partition: r.PartitionKey, Row: r.RowKey} }

// filter reads Where.
func (r Row) filter() (query.Filter, error) {
	if r.Where == "" {
		return query.Filter{}, nil
	}
	f, err := query.Parse(r.Where)
	if err != nil {
		return f, fmt.Errorf("Row.Where: %w", err)
	}
	return f, nil
}

// record is a row as it was read, whatever its properties.
type record struct {
	key        keys.Key
	properties edm.Properties
	timestamp  time.Time
	etag       string
}

// Lookup gives a property to a filter.
func (r record) Lookup(name string) (any, bool) {
	switch name {
	case "PartitionKey":
		return r.key.Partition, true
	case "RowKey":
		return r.key.Row, true
	case "Timestamp":
		return r.timestamp, true
	}
	v, ok := r.properties[name]
	return v, ok
}

// body is the record as the Table service's JSON, with the types of all properties.
func (r record) body() ([]byte, error) {
	return edm.AppendProperties(nil, r.properties, edm.Envelope{PartitionKey: r.key.Partition, RowKey: r.key.Row})
}

// shelf is where records are moved to. Errors are those of package patterns.
type shelf interface {
	// create stores a record where there is none, or fails with ErrExists.
	create(context.Context, record) (etag string, err error)
	read(context.Context, keys.Key) (record, error)
	// replace stores r where the version is etag, or fails with ErrConflict or
	// ErrNotFound.
	replace(ctx context.Context, r record, etag string) (string, error)
	remove(ctx context.Context, key keys.Key, etag string) error
}

// rowShelf is a table.
type rowShelf struct{ client *wire.Client }

func newRowShelf(client *aztables.Client) rowShelf { return rowShelf{wire.NewClient(client)} }

// is reports whether both are the same table. It is known from the first request of
// each on; upper and lower case name one table.
func (s rowShelf) is(other shelf) bool {
	o, ok := other.(rowShelf)
	if !ok {
		return false
	}
	a, known := s.client.Address()
	b, also := o.client.Address()
	return known && also && strings.EqualFold(a.Base, b.Base)
}

func (s rowShelf) read(ctx context.Context, key keys.Key) (record, error) {
	r := record{key: key}
	err := s.client.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		properties, meta, err := edm.ReadProperties(body)
		if etag == "" {
			etag = meta.ETag
		}
		r.properties, r.timestamp, r.etag = properties, meta.Timestamp, etag
		return err
	})
	return r, err
}

func (s rowShelf) create(ctx context.Context, r record) (string, error) {
	return s.write(ctx, wire.Insert, r, "")
}

func (s rowShelf) replace(ctx context.Context, r record, etag string) (string, error) {
	return s.write(ctx, wire.Replace, r, etag)
}

func (s rowShelf) write(ctx context.Context, kind wire.Kind, r record, etag string) (string, error) {
	body, err := r.body()
	if err != nil {
		return "", err
	}
	return s.client.Write(ctx, wire.Write{Kind: kind, PartitionKey: r.key.Partition, RowKey: r.key.Row, Body: body, ETag: etag})
}

func (s rowShelf) remove(ctx context.Context, key keys.Key, etag string) error {
	_, err := s.client.Write(ctx, wire.Write{Kind: wire.Delete, PartitionKey: key.Partition, RowKey: key.Row, ETag: etag})
	return err
}
