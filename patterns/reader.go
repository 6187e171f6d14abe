package patterns

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// Reader reads the rows of a table into another type than the table's. It cannot write. A
// Reader is safe for concurrent use. Make one with [Project] or [Discriminate].
type Reader[U any] struct{ rows *records.Reader }

// Project returns a Reader of U, a narrower type, on t's table. The fields of U must be
// properties of T, with the same property types; otherwise the error is a [*PropertyError].
// Filters may name every property of T. Project makes no request.
//
// The Reader requests only the keys and the properties that U has ($select), and no metadata,
// which saves about half of the bytes. If a filter fixes the partition key, it does not request
// that either. Its items are [Item.Projected]. They have no Timestamp unless U has a field for
// it, and instead of their version an ETag that writes refuse with [ErrBadETag].
//
// Without metadata the service does not send types. Values are read as the types of U's fields,
// which are those of the rows that T writes. Of a row of another program, a property of another
// type is an error only if its text cannot be read: a text field accepts an Edm.DateTime, and an
// int64 field the text "12".
//
// If U has a field ETag of type azcore.ETag, a field odata.etag or X@odata.type, or a map for unknown properties, the Reader
// requests metadata. Its items then have Timestamp and version, and types are checked as in a
// Table.
func Project[U, T any](t *Table[T]) (*Reader[U], error) {
	if t == nil {
		return nil, fmt.Errorf("project: table: %w", ErrNil)
	}
	codec, err := t.txn.Codec.Of(reflect.TypeFor[U]())
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	source, err := t.rows.Source.Project(codec)
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	return &Reader[U]{records.New(source, codec, reflect.TypeFor[U]())}, nil
}

// Discriminator finds the Go types of the rows of a table that contains several types, for
// [Discriminate]. Its function is called concurrently.
type Discriminator struct {
	// Property is the name of a text property that depends on the type. "" means that the
	// row key decides alone.
	Property string

	// Type returns a pointer to a zero value of the row's Go type. The row is decoded into
	// it, and it becomes the Value of the Item. If it returns nil, the Item has no Value and
	// no unknown properties.
	//
	// text is the value of Property, nil if the row does not have it. isText is false if the
	// row has it with another type. The slices are valid only during the call. Type may be
	// called more than once for a row.
	Type func(rowKey, text []byte, isText bool) any
}

// Discriminate returns a Reader of t's rows that decodes each as the Go type that d finds,
// as if it had been read from a Table of that type. It reads whole rows. Filters and
// [QueryOptions.Select] may name any property; a selection must include d.Property.
// Discriminate makes no request.
func Discriminate(t *Table[Row], d Discriminator) (*Reader[any], error) {
	if t == nil || t.rows == nil || d.Type == nil {
		return nil, fmt.Errorf("discriminate: %w", ErrNil)
	}
	r := records.New(t.rows.Source, t.txn.Codec, reflect.TypeFor[any]())
	r.TypeOf, r.Property, r.Stamped, r.Sent = d.Type, d.Property, t.rows.Stamped, t.rows.Sent
	return &Reader[any]{r}, nil
}

// Get is [Table.Get].
func (r *Reader[U]) Get(ctx context.Context, key keys.Key) (Item[U], error) {
	return getItem[U](ctx, r.rows, key)
}

// Query is [Table.Query].
func (r *Reader[U]) Query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[U], error] {
	return queryItems[U](ctx, r.rows, f, opts)
}

// Page is [Table.Page].
func (r *Reader[U]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[U], error) {
	return itemPage[U](ctx, r.rows, f, cursor, opts)
}

// Pages is [Table.Pages].
func (r *Reader[U]) Pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[U], error] {
	return itemPages[U](ctx, r.rows, f, cursor, opts)
}

// Scan is [Table.Scan].
func (r *Reader[U]) Scan(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[ScanPage[U], error] {
	return scanItems[U](ctx, r.rows, f, cursor, opts)
}

// Segments is [Table.Segments].
func (r *Reader[U]) Segments(ctx context.Context, f query.Filter, n int, opts *QueryOptions) ([]string, error) {
	return segments(ctx, r.rows, f, n, opts)
}
