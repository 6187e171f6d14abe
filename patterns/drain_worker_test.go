package patterns_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAWorkerThatWritesLateAndDiesIsCorrected holds a worker up right before its
// first write, lets the writer finish and another delete the entity, and kills the
// worker as soon as its write has been carried out. The worker takes the operation over
// while the writer drains it, or before the writer, whose reply gets lost, knows that it
// has been carried out.
func TestAWorkerThatWritesLateAndDiesIsCorrected(t *testing.T) {
	t.Run("while draining", func(t *testing.T) { lateWorker(t, false) })
	t.Run("before the writer knows", func(t *testing.T) { lateWorker(t, true) })
}

func lateWorker(t *testing.T, lost bool) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		p, err := newPlace(ctx, everyView)
		if err != nil {
			return err
		}
		a, err1 := p.start(&process{})
		b, err2 := p.start(&process{})
		w, err3 := p.start(&process{})
		reached, resume, dead := make(chan bool), make(chan bool), make(chan bool)
		var held, begun atomic.Bool // a drain sends several requests at once
		isWrite := func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/other") }
		w.sending = func(method, path string) {
			if isWrite(method, path) && held.CompareAndSwap(false, true) {
				reached <- true
				<-resume
				w.kill() // this request is carried out, no other
			}
		}
		begins := isWrite
		if lost {
			a.deaf = func(_, path string) bool { return strings.HasSuffix(path, "$batch") }
			begins = func(method, path string) bool { return method == "GET" && strings.Contains(path, "~azp_outbox_") }
		}
		a.sending = func(method, path string) {
			if begins(method, path) && begun.CompareAndSwap(false, true) {
				p.queue.hurry()
				go func() { _, _ = p.queue.work(ctx, w); close(dead) }()
				<-reached
			}
		}
		_, err4 := a.Insert(ctx, h)
		err5 := b.Delete(ctx, h.key())
		close(resume)
		<-dead
		return errors.Join(err1, err2, err3, err4, err5, p.recover(ctx), p.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTwoWorkersMayRemoveOneRecord shows the last wake-up of an operation to two
// workers.
func TestTwoWorkersMayRemoveOneRecord(t *testing.T) {
	badgeTest(t, func(h *held) {
		a, w := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, jones())
		h.handle(0)
		time.Sleep(2 * testExpiry)
		wakeup := h.queue.messages[0].wakeup
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
