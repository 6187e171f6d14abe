package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// two processes on one place; between runs inside the first one's request that
// begins with the given method and ends with the given path, once.
func duringRequest(ctx context.Context, method, path string, do func(other *process) error) (c *cluster, a *process, done func() error, err error) {
	if c, err = newCluster(ctx, everyView); err != nil {
		return nil, nil, nil, err
	}
	a, err1 := c.start(&process{})
	b, err2 := c.start(&process{})
	var ran atomic.Bool // a drain sends several requests at once
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
		// The entity is gone before the first writer inserts its copy elsewhere.
		c, a, done, err := duringRequest(ctx, "POST", "/other", func(b *process) error { return b.Delete(ctx, h.key()) })
		if err != nil {
			return err
		}
		_, err = a.Insert(ctx, h)
		return errors.Join(err, done(), c.recover(ctx), c.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTheExpiryOfARecordBeginsWhenTheOperationIsDone has the worker come after the expiry.
func TestTheExpiryOfARecordBeginsWhenTheOperationIsDone(t *testing.T) {
	testRace(t, func(h *race) {
		a, w := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge("B7"))
		time.Sleep(2 * testExpiry)
		again, err := w.Handle(h.ctx, h.queue.Message(0))
		h.must(err)
		rows, err := readTable(h.ctx, h.own)
		h.must(err)
		left := 0
		for key, p := range rows {
			if strings.Contains(key, "~azp_outbox_") && p["azp_state"] == "done" {
				left++
			}
		}
		if again != testExpiry || left != 1 {
			t.Errorf("again in %v, %d rows that say done", again, left)
		}
	})
}

// TestTheOutboxMessageNamesEveryReservedRow has a change ask for another badge when it runs
// again, and its process die with that.
func TestTheOutboxMessageNamesEveryReservedRow(t *testing.T) {
	testRace(t, func(h *race) {
		setup, a, b := h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, withBadge(""))
		h.must(err)
		transactions := 0
		a.loseRequest = func(_, path string) bool {
			if !strings.HasSuffix(path, "$batch") {
				return false
			}
			if transactions++; transactions == 1 {
				_, err := b.Update(h.ctx, jones().key(), func(h *hire) error { h.Age++; return nil })
				h.must(err)
				return false
			}
			a.kill()
			return true
		}
		checkBadges := []string{"B7", "B8"}
		_, _ = a.Update(h.ctx, jones().key(), func(h *hire) error {
			h.Badge, checkBadges = checkBadges[0], checkBadges[1:]
			return nil
		})
		rows, err := readTable(h.ctx, h.own)
		h.must(err)
		if transactions != 2 || rows["badge|B8"] == nil {
			t.Errorf("%d transactions, and the rows %v", transactions, rows)
		}
	})
}

// TestALateWriteOfACrashedWorkerIsUndone holds a worker up right before its
// first write, lets the writer finish and another delete the entity, and kills the
// worker as soon as its write has been carried out. The worker takes the operation over
// while the writer drains it, or before the writer, whose reply gets lost, knows that it
// has been carried out.
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
		var race, begun atomic.Bool // a drain sends several requests at once
		isWrite := func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/other") }
		w.sending = func(method, path string) {
			if isWrite(method, path) && race.CompareAndSwap(false, true) {
				reached <- true
				<-resume
				w.kill() // this request is carried out, no other
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
	if err != nil {
		t.Error(err)
	}
}

// TestTwoWorkersMayRemoveOneRecord shows the last wake-up of an operation to two
// workers.
func TestTwoWorkersMayRemoveOneRecord(t *testing.T) {
	testRace(t, func(h *race) {
		a, w := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, jones())
		h.handle(0)
		time.Sleep(2 * testExpiry)
		wakeup := h.queue.Message(0)
		met := false
		w.sending = func(method, path string) {
			if method == "DELETE" && strings.Contains(path, "~azp_outbox_") {
				h.handle(0)
				met = true
			}
		}
		if again, err := w.Handle(h.ctx, wakeup); !met || again != 0 || err != nil {
			t.Errorf("(met: %v) the second worker was told %v, %v", met, again, err)
		}
	})
}

// TestAWriteOfASlowWorkerAfterTheEndIsUndone has two workers at one
// operation. The slower writes when the entity is gone already, and dies.
func TestAWriteOfASlowWorkerAfterTheEndIsUndone(t *testing.T) {
	testRace(t, func(h *race) {
		a, slow, b := h.process(), h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge(""))
		var begun atomic.Bool // a drain sends several requests at once
		slow.sending = func(method, path string) {
			if method == "POST" && strings.HasSuffix(path, "/other") && begun.CompareAndSwap(false, true) {
				h.handle(0)
				h.must(b.Delete(h.ctx, jones().key()))
				slow.kill() // this request is carried out, no other
			}
		}
		_, _ = slow.Handle(h.ctx, h.queue.Message(0))
		if !slow.isDead() {
			h.must(errors.New("the slow worker wrote nothing"))
		}
	})
}
