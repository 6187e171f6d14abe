package regions

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Item is a row and its source. Its ETag is that of the version which was read: a conditional
// write under the ETag of an outdated version fails with [patterns.ErrConflict].
type Item[T any] struct {
	patterns.Item[T]
	Source
}

// Table reads the rows of a table from either region. It does not write: use the
// [patterns.Table], whose reads and writes use the primary only. A Table is safe for
// concurrent use. NewTable makes it.
type Table[T any] struct{ rows *patterns.Table[T] }

// TableOptions are the options of [NewTable]. There is none yet: use nil.
type TableOptions struct{}

// NewTable returns a Table on rows, whose client was built with the options of [Pair.Attach].
// It makes no request. A read with another client fails with [patterns.ErrBadOption]. nil rows are
// [patterns.ErrNil].
func NewTable[T any](rows *patterns.Table[T], _ *TableOptions) (*Table[T], error) {
	if rows == nil {
		return nil, fmt.Errorf("regions: a table: %w", patterns.ErrNil)
	}
	return &Table[T]{rows}, nil
}

// Get reads the row at key. If it does not exist, the error matches [patterns.ErrNotFound]. If
// only the secondary answered and does not have it, the error is an [*AbsentError]. One
// request, and a second one to the secondary if the primary fails or is slow.
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	ctx, p := permit(ctx, &permission{})
	item, err := t.rows.Get(ctx, key)
	source, err := sourceOf(p, err == nil, err)
	if err != nil {
		return Item[T]{}, err
	}
	return Item[T]{item, source}, nil
}

// sourceOf returns the source of what was read with a permission, and its error: an AbsentError if only the
// secondary answered that the row does not exist. replied means that there was a reply.
func sourceOf(p *permission, replied bool, err error) (Source, error) {
	if p == nil {
		return Source{Region: Primary}, err
	}
	s := p.seen()
	if replied && s.Region == "" {
		err = fmt.Errorf("regions: %w: the client was not built with the options of Pair.Attach", patterns.ErrBadOption)
	}
	if s.Region == Secondary && (errors.Is(err, patterns.ErrNotFound) || errors.Is(err, patterns.ErrTableNotFound)) {
		var refused *azcore.ResponseError
		if errors.As(err, &refused) { // not the error of package patterns
			err = refused
		}
		err = &AbsentError{s.MaxAge, err}
	}
	return s, err
}

// itemsOf adds the source to rows.
func itemsOf[T any](rows []patterns.Item[T], s Source) []Item[T] {
	items := make([]Item[T], len(rows))
	for i := range rows {
		items[i] = Item[T]{rows[i], s}
	}
	return items
}
