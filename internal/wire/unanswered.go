package wire

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// track records an attempt of the call that may still be carried out. err is the result of
// the call, and failed is the write that the service refused, nil if it named none.
func (c *call) track(ctx context.Context, err error, failed *Write) {
	late := c.again && c.earlierTryOpen()
	var e *types.Error
	if errors.As(err, &e) {
		late = e.Unsure && !failed.obsolete(e)
	}
	if late {
		calls.MarkUnanswered(ctx)
	}
}

// obsolete reports whether w, refused with e, can no longer be carried out: the version that
// it needs does not exist any more.
func (w *Write) obsolete(e *types.Error) bool {
	return w != nil && !w.repeatable() && (errors.Is(e, azerr.ErrConflict) || errors.Is(e, azerr.ErrNotFound))
}

// repeatable reports whether a late attempt of w can be carried out after another was.
func (w *Write) repeatable() bool { return w.Kind < Merge || w.ETag == "*" }

// repeatable reports whether a late attempt of the transaction can be carried out after
// another attempt was. The condition of one write protects all of them.
func repeatable(writes []*Write) bool {
	for _, w := range writes {
		if !w.repeatable() {
			return false
		}
	}
	return true
}

// at returns the write at index, nil if index is not valid.
func at(writes []*Write, index int) *Write {
	if index < 0 || index >= len(writes) {
		return nil
	}
	return writes[index]
}
