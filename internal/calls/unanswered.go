package calls

import (
	"context"
	"sync/atomic"
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

// Track returns a context whose calls record in u.
func Track(ctx context.Context, u *Unanswered) context.Context {
	return context.WithValue(ctx, unansweredKey{}, u)
}

// MarkUnanswered records an attempt of a write.
func MarkUnanswered(ctx context.Context) {
	if u, _ := ctx.Value(unansweredKey{}).(*Unanswered); u != nil {
		u.any.Store(true)
	}
}
