package wire

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Unanswered records whether a write made an attempt that got no reply and may still be
// carried out after its call has returned. Such an attempt of an unconditional write, or of
// one on condition that the row does not exist, may be carried out even if the call
// succeeded: if the row was deleted meanwhile, the attempt creates it again. An attempt on
// condition of an ETag can be carried out only as long as the row has that ETag: not after
// the call has succeeded, and not after the service has refused the ETag.
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

// track records in ctx whether an attempt of the call may still be carried out. err is the
// result of the call, and failed is the write that the service refused, nil if unknown.
func (c *call) track(ctx context.Context, failed *Write, err error) {
	if !c.lostReply() {
		return
	}
	var e *azerr.Error
	used := err == nil
	if failed != nil && !failed.repeatable() && errors.As(err, &e) {
		used = e.Status == http.StatusPreconditionFailed || e.Status == http.StatusNotFound
	}
	if c.again || !used {
		MarkUnanswered(ctx)
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
