package outbox_test

import (
	"context"
	"errors"
	"github.com/azpatterns/azpatterns/internal/assert"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// duringRequest returns a cluster and a process a. Before the first request of a with the
// given method and a path with the given suffix, another process calls do. done returns
// the error of do.
func duringRequest(ctx context.Context, method, path string, do func(other *process) error) (c *cluster, a *process, done func() error, err error) {
	if c, err = newCluster(ctx, everyView); err != nil {
		return nil, nil, nil, err
	}
	a, err1 := c.start(&process{})
	b, err2 := c.start(&process{})
	var ran atomic.Bool // a drain sends requests concurrently
	var failed error
	a.sending = func(m, at string) {
		if m == method && strings.HasSuffix(at, path) && ran.CompareAndSwap(false, true) {
			failed = do(b)
		}
	}
	return c, a, func() error {
		if !ran.Load() {
			return errors.New("the request was not made")
		}
		return failed
	}, errors.Join(err1, err2)
}

func TestALateWriteIsUndone(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		// The entity is deleted before the first writer inserts its remote copy.
		c, a, done, err := duringRequest(ctx, "POST", "/other", func(b *process) error { return b.Delete(ctx, h.key()) })
		if err != nil {
			return err
		}
		_, err = a.Insert(ctx, h)
		return errors.Join(err, done(), c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

// The worker receives the message after the expiry.
func TestTheExpiryOfARecordBeginsWhenTheOperationIsDone(t *testing.T) {
	testRace(t, func(r *race) {
		a, w := r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge("B7"))
		time.Sleep(2 * testExpiry)
		for _, want := range []time.Duration{testExpiry, time.Minute} { // the message comes early
			retryAfter, err := w.Handle(r.ctx, r.queue.Message(0))
			r.must(err)
			rows, err := readTable(r.ctx, r.own)
			r.must(err)
			left := 0
			for key, p := range rows {
				if strings.Contains(key, "~azp_outbox_") && p["azp_state"] == "done" {
					left++
				}
			}
			assert.Equal(t, retryAfter.Round(10*time.Second), want)
			assert.Equal(t, left, 1)
			time.Sleep(testExpiry - time.Minute)
		}
	})
}

// The second run of an update reserves another badge. Then its process is killed.
func TestTheOutboxMessageNamesEveryReservedRow(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a, b := r.process(), r.process(), r.process()
		_, err := setup.Insert(r.ctx, withBadge(""))
		r.must(err)
		transactions := 0
		a.loseRequest = func(_, path string) bool {
			if !strings.HasSuffix(path, "$batch") {
				return false
			}
			if transactions++; transactions == 1 {
				_, err := b.Update(r.ctx, jones().key(), func(h *hire) error { h.Age++; return nil })
				r.must(err)
				return false
			}
			a.Kill()
			return true
		}
		badges := []string{"B7", "B8"}
		_, _ = a.Update(r.ctx, jones().key(), func(h *hire) error {
			h.Badge, badges = badges[0], badges[1:]
			return nil
		})
		rows, err := readTable(r.ctx, r.own)
		r.must(err)
		if transactions != 2 || rows["badge|B8"] == nil {
			t.Errorf("%d transactions, and the rows %v", transactions, rows)
		}
	})
}

// A worker is paused before its first write. Meanwhile the writer completes the operation
// and another process deletes the entity. The worker is killed after its write. It
// acquires the operation while the writer drains it, or before the writer, whose reply is
// lost, has resolved the outcome.
func TestALateWriteOfACrashedWorkerIsUndone(t *testing.T) {
	t.Run("while draining", func(t *testing.T) { lateWorker(t, false) })
	t.Run("before the writer knows", func(t *testing.T) { lateWorker(t, true) })
}

func lateWorker(t *testing.T, lost bool) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		c, err := newCluster(ctx, everyView)
		if err != nil {
			return err
		}
		a, err1 := c.start(&process{})
		b, err2 := c.start(&process{})
		w, err3 := c.start(&process{})
		reached, resume, dead := make(chan bool), make(chan bool), make(chan bool)
		var paused, begun atomic.Bool // a drain sends requests concurrently
		isWrite := func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/other") }
		w.sending = func(method, path string) {
			if isWrite(method, path) && paused.CompareAndSwap(false, true) {
				reached <- true
				<-resume
				w.Kill() // after this request
			}
		}
		begins := isWrite
		if lost {
			a.loseReply = func(_, path string) bool { return strings.HasSuffix(path, "$batch") }
			begins = func(method, path string) bool { return method == "GET" && strings.Contains(path, "~azp_outbox_") }
		}
		a.sending = func(method, path string) {
			if begins(method, path) && begun.CompareAndSwap(false, true) {
				c.queue.ShowFirst()
				go func() { _, _ = c.queue.WorkOne(ctx, w, workerHides); close(dead) }()
				<-reached
			}
		}
		_, err4 := a.Insert(ctx, h)
		err5 := b.Delete(ctx, h.key())
		close(resume)
		<-dead
		return errors.Join(err1, err2, err3, err4, err5, c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

// Two workers receive the last message of an operation.
func TestTwoWorkersMayRemoveOneRecord(t *testing.T) {
	testRace(t, func(r *race) {
		a, w := r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, jones())
		r.handle(0)
		time.Sleep(2 * testExpiry)
		message := r.queue.Message(0)
		met := false
		w.sending = func(method, path string) {
			if method == "DELETE" && strings.Contains(path, "~azp_outbox_") {
				r.handle(0)
				met = true
			}
		}
		if retryAfter, err := w.Handle(r.ctx, message); !met || retryAfter != 0 || err != nil {
			t.Errorf("(met: %v) the second worker got %v, %v", met, retryAfter, err)
		}
	})
}

// A worker has read the outbox row, and is about to store its name in it, when the writer, which
// has completed the operation, deletes the row.
func TestAWorkerMayBeTooLateToTakeAnOperation(t *testing.T) {
	testRace(t, func(r *race) {
		a, w := r.process(), r.process()
		reached, resume, worked := make(chan bool), make(chan bool), make(chan error, 1)
		var paused, begun atomic.Bool
		ofRow := func(path string) bool { return strings.Contains(path, "~azp_outbox_") }
		w.sending = func(method, path string) {
			if method == "PUT" && ofRow(path) && paused.CompareAndSwap(false, true) {
				reached <- true
				<-resume
			}
		}
		a.sending = func(method, path string) {
			if method == "DELETE" && ofRow(path) && begun.CompareAndSwap(false, true) {
				r.queue.ShowFirst()
				go func() {
					_, err := r.queue.WorkOne(r.ctx, w, workerHides)
					worked <- err
				}()
				<-reached
			}
		}
		_, err := a.Insert(r.ctx, jones())
		r.must(err)
		close(resume)
		r.must(<-worked)
	})
}

// Two workers process one operation. The slower one writes after the entity was deleted,
// and is killed.
func TestAWriteOfASlowWorkerAfterTheEndIsUndone(t *testing.T) {
	testRace(t, func(r *race) {
		a, slow, b := r.process(), r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge(""))
		var begun atomic.Bool // a drain sends requests concurrently
		slow.sending = func(method, path string) {
			if method == "POST" && strings.HasSuffix(path, "/other") && begun.CompareAndSwap(false, true) {
				r.handle(0)
				r.must(b.Delete(r.ctx, jones().key()))
				slow.Kill() // after this request
			}
		}
		_, _ = slow.Handle(r.ctx, r.queue.Message(0))
		if !slow.Dead() {
			r.must(errors.New("the slow worker wrote nothing"))
		}
	})
}
