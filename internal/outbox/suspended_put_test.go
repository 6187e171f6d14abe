package outbox_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// fated starts a process whose requests, of those with this method and part of the path, meet
// the fates in order.
func (r *race) fated(method, path string, fates ...harness.Fate) *process {
	var nth atomic.Int32
	p, err := r.start(&process{Process: &harness.Process{Decide: func(m, at string) (f harness.Fate) {
		if m != method || !strings.Contains(at, path) {
			return f
		}
		if n := int(nth.Add(1)); n <= len(fates) {
			f = fates[n-1]
		}
		return f
	}}})
	r.must(err)
	return p
}

// A reservation is faster than its message, which is lost after so long a time that a sweep has
// fenced the operation and the fence has been removed. A worker that began just before that may
// still release what the old operation has reserved.
func TestAnOperationThatWasSuspendedGetsAnotherID(t *testing.T) {
	testRace(t, func(r *race) {
		began := time.Now()
		at := func(d time.Duration) { time.Sleep(time.Until(began.Add(testExpiry + d))) }
		writer := r.fated(http.MethodPost, "/queue",
			harness.Fate{Before: testExpiry + time.Hour, What: harness.RequestLost},
			harness.Fate{After: time.Hour}) // until the transaction
		worker := r.fated(http.MethodGet, "_outbox_", harness.Fate{After: 90 * time.Minute}) // until it reads the row
		inserted, handled := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := writer.Insert(r.ctx, withBadge("B7"))
			inserted <- err
		}()
		time.Sleep(3 * testGrace)
		r.must(r.sweep(r.ctx))
		at(2 * time.Minute)
		go func() {
			_, err := worker.Handle(r.ctx, r.queue.Message(0))
			handled <- err
		}()
		at(10 * time.Minute)
		r.must(r.recover(r.ctx)) // removes the fence
		r.must(<-handled)
		_, other := r.process().Insert(r.ctx, rival())
		if err := <-inserted; (err == nil) == (other == nil) || errors.Is(err, patterns.ErrOutcomeUnknown) {
			r.must(errors.Join(errors.New("not one of two entities got the badge"), err, other))
		}
	})
}
