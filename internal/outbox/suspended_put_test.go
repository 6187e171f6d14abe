package outbox_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
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

// killedBetween runs do in a process that is killed while its first request with this method and
// part of the path is on its way, and is lost. Its concurrent requests arrive.
func (r *race) killedBetween(method, path string, do func(p *process)) {
	p := r.fated(method, path, harness.Fate{Before: time.Second, What: harness.RequestLost})
	done := make(chan struct{})
	go func() {
		do(p)
		close(done)
	}()
	time.Sleep(time.Second / 2)
	p.Kill()
	<-done
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

// The message and the reservation are sent concurrently, and the process is killed when only one
// of them has arrived. Others cannot have the value for the grace time at most.
func TestACrashBetweenAReservationAndItsMessageBlocksTheValueForTheGraceTimeOnly(t *testing.T) {
	for name, lost := range map[string]string{"only the reservation": "/queue", "only the message": "/hires"} {
		for then, next := range map[string]func(r *race){
			"the same entity": func(r *race) { _, err := r.process().Insert(r.ctx, withBadge("B7")); r.must(err) },
			"another entity": func(r *race) {
				if r.queue.Len() == 0 {
					_, err := r.process().Insert(r.ctx, rival())
					r.refused("a young reservation", err)
				}
				time.Sleep(testGrace)
				_, err := r.process().Insert(r.ctx, rival())
				r.must(err)
			},
			"a sweep": func(r *race) { time.Sleep(3 * testGrace); r.must(r.sweep(r.ctx)) },
		} {
			t.Run(name+", then "+then, func(t *testing.T) {
				testRace(t, func(r *race) {
					r.killedBetween(http.MethodPost, lost, func(p *process) { _, _ = p.Insert(r.ctx, withBadge("B7")) })
					rows, err := readTable(r.ctx, r.own)
					r.must(err)
					if len(rows)+r.queue.Len() != 1 {
						r.must(errors.New("not exactly one of the two arrived"))
					}
					next(r)
				})
			})
		}
	}
}

// An attempt of the reservation arrives after a sweep has fenced the operation, and released what
// the next attempt had reserved.
func TestAReservationThatArrivesAfterASweepIsReleased(t *testing.T) {
	testRace(t, func(r *race) {
		p := r.fated(http.MethodPost, "/hires", harness.Fate{What: harness.ArrivesLate, Late: 10 * time.Minute}, harness.Fate{Dies: true})
		var late sync.WaitGroup
		p.Late = &late
		_, _ = p.Insert(r.ctx, withBadge("B7"))
		r.queue.Clear() // as if the message had been lost
		time.Sleep(3 * testGrace)
		r.must(r.sweep(r.ctx))
		rows := func() int {
			rows, err := readTable(r.ctx, r.own)
			r.must(err)
			n := 0
			for key := range rows {
				if strings.HasPrefix(key, "badge|") {
					n++
				}
			}
			return n
		}
		if n := rows(); n != 0 {
			r.must(errors.New("the sweep did not release the reservation"))
		}
		late.Wait()
		if n := rows(); n != 1 {
			r.must(errors.New("no reservation arrived"))
		}
	})
}

// With Follow: Later the message arrives when its process has given up long ago.
func TestAMessageThatArrivesLongAfterItsOperationWasGivenUpIsHandled(t *testing.T) {
	testRace(t, func(r *race) {
		r.follow = patterns.Later
		p := r.fated(http.MethodPost, "/queue", harness.Fate{What: harness.ArrivesLate, Late: 10 * time.Minute})
		var late sync.WaitGroup
		p.Late = &late
		if _, err := p.Insert(r.ctx, withBadge("B7")); err == nil {
			r.must(errors.New("the message was not lost"))
		}
		_, err := r.process().Insert(r.ctx, rival()) // the value is free
		r.must(err)
		r.must(r.process().Delete(r.ctx, rival().key()))
		_, err = r.process().Insert(r.ctx, withBadge("B7"))
		r.must(err)
		late.Wait()
	})
}
