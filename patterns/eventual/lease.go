package eventual

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// hold keeps one message hidden from other workers until it is stopped.
type hold struct {
	queue  queue
	every  time.Duration // visibility timeout
	log    *slog.Logger
	lose   context.CancelCauseFunc // ends the handler's context
	ctx    context.Context         // of the renewals
	timers *sync.WaitGroup         // counts those that are set or running

	// turn is taken by whoever uses what follows, over a request too: a channel, as
	// testing/synctest sees through one and not through a mutex.
	turn    chan struct{}
	m       *message
	until   time.Time // hidden at least until then
	timer   *time.Timer
	stopped bool
	lost    bool // for certain
}

func (h *hold) take() { h.turn <- struct{}{} }
func (h *hold) give() { <-h.turn }

// keep begins to renew the visibility of m, which was fetched at the given time.
func (h *hold) keep(fetched time.Time) {
	h.turn = make(chan struct{}, 1)
	h.take()
	defer h.give()
	h.until = fetched.Add(h.every)
	h.set(time.Until(fetched.Add(h.every / 3)))
}

func (h *hold) set(after time.Duration) {
	h.timers.Add(1)
	h.timer = time.AfterFunc(after, func() {
		defer h.timers.Done()
		h.renew()
	})
}

// renew asks for another visibility timeout. The old receipt is of no use
// afterwards; the turn is kept for so long, so that nobody uses it.
func (h *hold) renew() {
	h.take()
	defer h.give()
	if h.stopped {
		return
	}
	asked := time.Now()
	hide := h.m.within(h.every)
	if hide < time.Second || !asked.Add(hide).After(h.until) {
		return // it is hidden until it expires
	}
	// A request that goes on beyond the timeout is about a message that is no
	// longer this worker's.
	ctx, cancel := context.WithDeadlineCause(h.ctx, h.until, ErrLost)
	defer cancel()
	err := h.queue.update(ctx, h.m, h.m.text, hide)
	switch {
	case err == nil:
		h.until = asked.Add(hide)
		h.set(h.every / 3)
	case errors.Is(err, errTaken):
		// It may also be this very request, carried out before with its reply lost: then
		// the receipt is unknown, which comes to the same.
		h.lost = true
		h.lose(ErrLost)
	case !time.Now().Before(h.until):
		// Nobody need have it yet, and until then the receipt is good.
		h.log.Warn("eventual: visibility ran out", "error", err)
		h.lose(ErrLost)
	default:
		h.log.Warn("eventual: visibility not renewed, trying again", "error", err)
		h.set(max(min(h.every/12, time.Until(h.until)), time.Millisecond))
	}
}

// stop ends the renewals, waits for one under way, and tells whether the message is
// known to be lost. The message's receipt is the current one then.
func (h *hold) stop() (lost bool) {
	h.take()
	defer h.give()
	h.stopped = true
	if h.timer != nil && h.timer.Stop() {
		h.timers.Done()
	}
	return h.lost
}
