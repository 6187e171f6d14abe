package patterns

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// Reader reads the rows of a table into a narrower type. It fetches just the
// properties that U has ($select), besides keys, ETag and Timestamp. Its items are
// [Item.Projected]. It cannot write.
type Reader[U any] struct{ rows *rows[U] }

// Into makes a Reader of U on t's table. U's fields must be fields of T, with the
// same property types; its filters may name all fields of T.
func Into[U, T any](t *Table[T]) (*Reader[U], error) {
	if t == nil {
		return nil, fmt.Errorf("into: table: %w", ErrNil)
	}
	codec, err := edm.CodecFor(reflect.TypeFor[U]())
	if err != nil {
		return nil, fmt.Errorf("into: %w", err)
	}
	r := &rows[U]{wire: t.wire, codec: codec, schema: t.rows.schema}
	if !codec.Open() {
		r.only = []string{}
		for _, f := range codec.Fields() {
			have, ok := t.rows.schema[f.Name]
			if t.rows.schema != nil && (!ok || have != typeOf[f.EDM]) {
				return nil, fmt.Errorf("into: %w", &PropertyError{Property: f.Name, Want: "a property of the table's type", Got: f.EDM.String()})
			}
			r.only = append(r.only, f.Name)
		}
	}
	return &Reader[U]{r}, nil
}

// Get is [Table.Get].
func (r *Reader[U]) Get(ctx context.Context, key keys.Key) (Item[U], error) {
	return r.rows.get(ctx, key)
}

// Query is [Table.Query].
func (r *Reader[U]) Query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[U], error] {
	return r.rows.query(ctx, f, opts)
}

// Page is [Table.Page].
func (r *Reader[U]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[U], error) {
	return r.rows.page(ctx, f, cursor, opts)
}
