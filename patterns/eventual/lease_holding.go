package eventual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// holding is a lease while this process holds it. While run renews it, only the goroutine of renewUntil uses its fields.
type holding struct {
	*Lease
	item patterns.Item[leaseRow]
	sent time.Time // when the request was sent that has last renewed it
}

// left returns how long this process may still work.
func (h *holding) left() time.Duration {
	return h.opts.Duration - h.opts.Duration/10 - calls.Elapsed(h.sent)
}

// run calls do while it renews the lease, and then releases it.
func (h *holding) run(ctx context.Context, do func(ctx context.Context, fence int64) error) (err error) {
	fence := h.item.Value.Fence
	work, lose := context.WithCancelCause(ctx)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends after stop is closed
		defer close(ended)
		h.renewUntil(context.WithoutCancel(ctx), stop, lose)
	}()
	defer func() {
		close(stop)
		<-ended
		switch {
		case !errors.Is(context.Cause(work), ErrLeaseLost) && h.left() > 0:
			h.release(context.WithoutCancel(ctx))
		case err == nil:
			err = ErrLeaseLost
		case !errors.Is(err, ErrLeaseLost):
			err = fmt.Errorf("%w: %w", ErrLeaseLost, err)
		}
		lose(nil)
	}()
	return do(work, fence)
}

// renewUntil renews the lease until stop is closed, or the lease is lost, which it reports.
func (h *holding) renewUntil(ctx context.Context, stop <-chan struct{}, lose context.CancelCauseFunc) {
	for wait := h.opts.Duration / 3; ; {
		timer := time.NewTimer(min(wait, h.left()))
		select {
		case <-stop:
			timer.Stop()
			return
		case <-timer.C:
		}
		before := h.sent
		if !h.renew(ctx) || h.left() <= 0 {
			lose(ErrLeaseLost)
			return
		}
		if wait = h.opts.Duration / 3; h.sent == before {
			wait /= 4
		}
	}
}

// renew renews the lease, and returns false if another process holds it. An attempt may take a third of Duration, and no longer than the
// lease lasts.
func (h *holding) renew(ctx context.Context) bool {
	left := h.left()
	if left <= 0 {
		return false // the process may have been suspended
	}
	ctx, cancel := context.WithTimeout(ctx, min(left, h.opts.Duration/3))
	defer cancel()
	sent := time.Now()
	item, err := h.table.Replace(ctx, h.item)
	if err == nil {
		h.item, h.sent = item, sent
		return true
	}
	if h.holds(ctx) {
		return true
	}
	return !errors.Is(err, patterns.ErrConflict) && !errors.Is(err, patterns.ErrNotFound)
}

// holds reads the row after a request whose outcome is not known, and reports whether this process is its holder. If so, an
// earlier attempt may have written the row.
func (h *holding) holds(ctx context.Context) bool {
	item, err := h.table.Get(ctx, h.key)
	if err != nil || item.Value != h.item.Value {
		return false
	}
	h.item = item
	return true
}

// release lets another process take the lease immediately. If that fails, the lease expires.
func (h *holding) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(h.left(), h.opts.Duration/3))
	defer cancel()
	h.item.Value.Holder = ""
	_, _ = h.table.Replace(ctx, h.item)
}
