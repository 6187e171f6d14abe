package outbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// A process is suspended after it has put its message.
func TestAnOperationThatWasSuspendedStartsOver(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		suspended := false
		a.sending = func(method, path string) {
			if method != http.MethodPost || isTransaction(method, path) || suspended {
				return
			}
			suspended = true // in the reservation
			time.Sleep(2 * testExpiry)
			r.must(r.recover(r.ctx))
		}
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		if !suspended {
			r.must(errors.New("the process was not suspended"))
		}
	})
}

// The reply to a transaction is lost. Before the writer reads the outbox row, a worker
// finishes the operation, and a sweeper runs several times.
func TestAWrongClockDoesNotHideACommit(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * testExpiry} {
		testRace(t, func(r *race) {
			a, sweeper := r.process(), &process{}
			sweeper.Process = &harness.Process{Decide: sweeper.decide, Skew: skew}
			_, err := r.start(sweeper)
			r.must(err)
			var lost, swept atomic.Bool
			a.loseReply = func(method, path string) bool {
				return isTransaction(method, path) && lost.CompareAndSwap(false, true)
			}
			a.sending = func(string, string) {
				if !lost.Load() || !swept.CompareAndSwap(false, true) {
					return
				}
				r.handle(0)
				for range 3 {
					time.Sleep(2 * testGrace)
					report, err := sweeper.Sweep(r.ctx, nil)
					r.must(err)
					if report.Skipped == 0 {
						r.must(fmt.Errorf("the record is not young: %+v", report))
					}
				}
			}
			_, err = a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			if !swept.Load() {
				r.must(errors.New("no reply was lost"))
			}
		})
	}
}

// The reply to the transaction is lost, and the process is suspended before it reads the
// outbox row, until a worker has removed it.
func TestAnOutcomeThatIsReadTooLateIsUnknown(t *testing.T) {
	testRace(t, func(r *race) {
		a, err := r.start(&process{again: -1})
		r.must(err)
		suspended := false
		a.loseReply = func(method, path string) bool {
			if suspended || !isTransaction(method, path) {
				return false
			}
			suspended = true
			r.must(r.recover(r.ctx))
			return true
		}
		_, err = a.Insert(r.ctx, withBadge("B7"))
		if !suspended || !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
			t.Errorf("(suspended: %v) got %v", suspended, err)
		}
		time.Sleep(2 * testExpiry)
		r.must(r.sweep(r.ctx)) // of the fence
	})
}

// The first try fails because of another change, and the process is suspended in the second.
func TestATryAfterASuspensionStartsOver(t *testing.T) {
	testRace(t, func(r *race) {
		a, b := r.process(), r.process()
		_, err := b.Insert(r.ctx, withBadge(""))
		r.must(err)
		changed, suspended := false, false
		a.sending = func(method, path string) {
			if isTransaction(method, path) && !changed {
				changed = true
				_, err := b.Update(r.ctx, jones().key(), func(h *hire) error { h.Age++; return nil })
				r.must(err)
			}
		}
		a.loseReply = func(method, _ string) bool {
			if method == http.MethodGet && changed && !suspended {
				suspended = true
				time.Sleep(2 * testExpiry)
			}
			return false
		}
		_, err = a.Update(r.ctx, jones().key(), func(h *hire) error { h.Name = "Ann Smith"; return nil })
		if err != nil || !suspended {
			t.Errorf("(suspended: %v) got %v", suspended, err)
		}
	})
}

// A worker is suspended between a read and a write, until the record of the operation has
// been removed. It is killed when it would notice that the entity has changed.
func TestAWorkerThatWasSuspendedWritesNothing(t *testing.T) {
	testRace(t, func(r *race) {
		a, slow, b := r.process(), r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge(""))
		suspended := false
		slow.loseReply = func(_, path string) bool {
			if strings.HasSuffix(path, "(PartitionKey='Sales',RowKey='id_000223')") && !suspended {
				suspended = true
				r.must(r.recover(r.ctx))
				r.must(b.Delete(r.ctx, jones().key()))
				r.must(r.recover(r.ctx))
			}
			return false
		}
		slow.sending = func(method, path string) {
			if suspended && method == "POST" && strings.HasSuffix(path, "/other") {
				slow.Kill() // after this request
			}
		}
		_, err := slow.Handle(r.ctx, r.queue.Message(0))
		if !suspended || slow.Dead() || err == nil {
			t.Errorf("(suspended: %v, wrote: %v) got %v", suspended, slow.Dead(), err)
		}
	})
}
