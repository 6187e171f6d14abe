package wire

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Unanswered records whether a write made an attempt that may still be carried out after its
// call has returned, because it got no reply, or one that leaves its outcome open. If the
// call succeeded, that applies to unconditional writes, and to those on condition that the
// row does not exist: if the row was deleted meanwhile, the attempt creates it again. A write
// on condition of an ETag is not carried out any more once the row has another version,
// because no row has the same ETag twice. If the call failed otherwise, the row may still be
// that version.
type Unanswered struct{ any atomic.Bool }

// Any reports whether an attempt was recorded.
func (u *Unanswered) Any() bool { return u.any.Load() }

type unansweredKey struct{}

// TrackUnanswered returns a context whose calls record in u.
func TrackUnanswered(ctx context.Context, u *Unanswered) context.Context {
	return context.WithValue(ctx, unansweredKey{}, u)
}

// MarkUnanswered records an attempt of a write that a [Client] did not make.
func MarkUnanswered(ctx context.Context) {
	if u, _ := ctx.Value(unansweredKey{}).(*Unanswered); u != nil {
		u.any.Store(true)
	}
}

// track records an attempt of the call that may still be carried out. err is the result of
// the call, and failed is the write that the service refused, nil if it named none.
func (c *call) track(ctx context.Context, err error, failed *Write) {
	late := c.again && c.earlierTryOpen()
	var e *azerr.Error
	if errors.As(err, &e) {
		late = e.Unsure && !failed.obsolete(e)
	}
	if late {
		MarkUnanswered(ctx)
	}
}

// obsolete reports whether w, refused with e, can no longer be carried out: the version that
// it needs does not exist any more.
func (w *Write) obsolete(e *azerr.Error) bool {
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
