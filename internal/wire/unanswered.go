package wire

import (
	"context"
	"sync/atomic"
)

// Unanswered records whether an unconditional write, or one on condition that the row
// does not exist, made an attempt that got no reply. Such an attempt may still reach the
// service after its call has returned, even if the call succeeded, and if the row was
// deleted meanwhile, the attempt creates it again. A write on condition of an ETag cannot
// do that, because no row has the same ETag twice.
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

// repeatable reports whether a late attempt of w can create the row once more.
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
