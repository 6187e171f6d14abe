package outbox_test

import (
	"testing"
	"time"
)

// The queue has several copies of a message whose operation was completed, or abandoned. Its writer
// has deleted its own at most.
func TestCopiesOfAMessageAreGoneSoonAfterExpiry(t *testing.T) {
	const copies, poll = 5, 10 * time.Second
	for _, what := range []string{"completed", "completed later", "abandoned"} {
		testRace(t, func(r *race) {
			a := r.process()
			a.inside(1, func() {
				for range copies {
					_, err := r.queue.Put(r.ctx, r.queue.Message(0), testGrace)
					r.must(err)
				}
				if what == "abandoned" {
					a.Kill()
				}
			})
			if what == "completed later" {
				a.changed = a.Kill
			}
			began := time.Now()
			if _, err := a.Insert(r.ctx, withBadge("B7")); err != nil && what == "completed" {
				r.must(err)
			}
			w := r.process()
			for r.queue.Len() > 0 && time.Since(began) < 20*testExpiry {
				for again := true; again; {
					var err error
					again, err = r.queue.WorkOne(r.ctx, w, workerHides)
					r.must(err)
				}
				time.Sleep(poll)
			}
			allowed := testExpiry + testGrace + poll
			if what != "completed" {
				allowed += testGrace + poll // the record is stored when the message is visible
			}
			if took := time.Since(began); took > allowed+2*poll {
				t.Errorf("%s: the queue was empty after %v, want %v", what, took, allowed)
			}
		})
	}
}
