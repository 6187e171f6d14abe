package eventual

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// messageLease keeps one received message hidden from other workers until it is stopped.
type messageLease struct {
	queue      queue
	visibility time.Duration
	log        *slog.Logger
	cancel     context.CancelCauseFunc // ends the handler's context
	ctx        context.Context         // of the renewals
	timers     *sync.WaitGroup         // counts timers that are set or running

	// lock protects the fields below, and is held during requests. It is a channel
	// because testing/synctest does not treat a goroutine that waits for a mutex as
	// durably blocked.
	lock    chan struct{}
	m       *message
	timer   *time.Timer
	stopped bool
	lost    bool // another client has the message, or may have it
}

func (l *messageLease) acquire() { l.lock <- struct{}{} }
func (l *messageLease) release() { <-l.lock }

// start begins to renew the lease of m.
func (l *messageLease) start() {
	l.lock = make(chan struct{}, 1)
	l.acquire()
	defer l.release()
	l.schedule(time.Until(l.m.hidden.Add(l.visibility / 3)))
}

func (l *messageLease) schedule(after time.Duration) {
	l.timers.Add(1)
	l.timer = time.AfterFunc(after, func() {
		defer l.timers.Done()
		l.renew()
	})
}

// renew extends the lease by another visibility timeout. The request invalidates the
// old pop receipt, so the lock is held until the new one is known.
func (l *messageLease) renew() {
	l.acquire()
	defer l.release()
	if l.stopped {
		return
	}
	if l.m.overdue() { // the process may have been suspended
		l.expire(nil)
		return
	}
	until := l.m.hiddenUntil()
	extension := l.m.untilExpiry(l.visibility)
	if extension < time.Second || !time.Now().Add(extension).After(until) {
		return // it is already hidden until it expires
	}
	// When the lease has expired, another worker may have received the message, so the
	// request must end by then.
	ctx, cancel := context.WithDeadlineCause(l.ctx, until, ErrLeaseLost)
	defer cancel()
	err := l.queue.update(ctx, l.m, l.m.text, extension)
	switch {
	case err == nil:
		l.schedule(l.visibility / 3)
	case errors.Is(err, ErrLeaseLost):
		// An earlier try of this request may have renewed the lease and lost its response.
		// The new pop receipt is then unknown, which has the same consequence.
		l.lost = true
		l.cancel(ErrLeaseLost)
	case l.m.overdue():
		l.expire(err)
	default:
		l.log.Warn("eventual: message lease not renewed, trying again", "error", err)
		l.schedule(max(min(l.visibility/12, time.Until(until)), time.Millisecond))
	}
}

// expire ends the handler's context, because the lease is over. The pop receipt stays valid
// until another worker receives the message.
func (l *messageLease) expire(err error) {
	l.log.Warn("eventual: message lease expired", "error", err)
	l.cancel(ErrLeaseLost)
}

// stop ends the renewals and waits for one that is under way. It reports whether the
// lease is known to be lost; if not, the message's pop receipt is the current one.
func (l *messageLease) stop() (lost bool) {
	l.acquire()
	defer l.release()
	l.stopped = true
	if l.timer != nil && l.timer.Stop() {
		l.timers.Done()
	}
	return l.lost
}
