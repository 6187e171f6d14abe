package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// race is a cluster with several processes that compete for badge B7.
type race struct {
	*cluster
	ctx  context.Context
	errs []error
}

// testRace runs body, then checks all rows and that no badge has two owners.
func testRace(t *testing.T, body func(r *race)) {
	t.Helper()
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, fewViews)
		if err != nil {
			return err
		}
		r := &race{cluster: c, ctx: ctx}
		body(r)
		r.must(c.checkBadges(ctx))
		r.must(c.recover(ctx))
		r.must(c.checkBadges(ctx))
		r.must(verify(ctx, c.own, c.other, c.views, nil)) // and no record remains
		return errors.Join(r.errs...)
	})
	assert.Equal(t, err, nil)
}

func (r *race) must(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

func (r *race) process() *process {
	p, err := r.start(&process{})
	r.must(err)
	return p
}

// fewViews derive no common row of two entities, which would end most races in the
// transaction.
var fewViews = []string{"byEmail", "byBadge", "byName", "lastAll"}

// refused checks that err is a *DuplicateError.
func (r *race) refused(what string, err error) {
	if !errors.As(err, new(*patterns.DuplicateError)) {
		r.errs = append(r.errs, errors.New(what+" was not refused"))
	}
}

// inside calls do immediately before the nth transaction of the process.
func (p *process) inside(nth int, do func()) {
	var n atomic.Int32
	p.sending = func(_, path string) {
		if strings.HasSuffix(path, "$batch") {
			if n.Add(1) == int32(nth) {
				do()
			}
		}
	}
}

// handle has a new worker handle the nth message of the queue, from 0.
func (r *race) handle(nth int) {
	_, err := r.process().Handle(r.ctx, r.queue.Message(nth))
	r.must(err)
}

func withBadge(badge string) *hire {
	h := jones()
	h.Badge = badge
	return h
}

// rival has the same badge as jones, and no local row in common.
func rival() *hire {
	return &hire{Dept: "Marketing", ID: "2", Name: "Bob", Last: "Bloggs", Badge: "B7"}
}

func (p *process) setBadge(ctx context.Context, badge string) error {
	_, err := p.Update(ctx, jones().key(), func(h *hire) error { h.Badge = badge; return nil })
	return err
}

// An entity releases a badge, and takes it back before the first update is drained. Between
// the second reservation and its transaction no primary has the badge.
func TestAReservedRowIsNeitherDeletedNorTaken(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a, b, q := r.process(), r.process(), r.process(), r.process()
		_, err := setup.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		a.changed = a.Kill
		_ = a.setBadge(r.ctx, "B8")
		b.inside(1, func() {
			r.handle(0) // of a's update
			rows, err := readTable(r.ctx, r.own)
			r.must(err)
			if rows["badge|B7"] == nil {
				r.must(errors.New("the reserved row was deleted"))
			}
			_, err = q.Insert(r.ctx, rival())
			r.refused("another entity", err)
		})
		r.must(b.setBadge(r.ctx, "B7"))
	})
}

// An operation that has reserved a row pauses for longer than the grace time.
func TestTakingAnAbandonedRowFencesItsOperation(t *testing.T) {
	testRace(t, func(r *race) {
		b, q := r.process(), r.process()
		b.inside(1, func() {
			time.Sleep(2 * testGrace)
			_, err := q.Insert(r.ctx, rival())
			r.must(err)
		})
		_, err := b.Insert(r.ctx, withBadge("B7"))
		r.refused("the operation that was too late", err)
	})
}

// Like TestTakingAnAbandonedRowFencesItsOperation, but the queue is lost meanwhile.
func TestTakingAnAbandonedRowLeavesNoRecord(t *testing.T) {
	testRace(t, func(r *race) {
		b, q := r.process(), r.process()
		b.inside(1, func() {
			r.queue.Clear()
			time.Sleep(2 * testGrace)
			_, err := q.Insert(r.ctx, rival())
			r.must(err)
			b.Kill()
		})
		_, _ = b.Insert(r.ctx, withBadge("B7"))
	})
}

// Two operations have reserved one row for the same entity. The second one fails before
// the first one commits.
func TestAnOperationReleasesOnlyItsOwnReservations(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a, b, q := r.process(), r.process(), r.process(), r.process()
		_, err := setup.Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		r.must(err)
		a.inside(1, func() {
			twin := withBadge("B7")
			twin.Email = "taken"
			_, err := b.Insert(r.ctx, twin)
			r.refused("the taken address", err)
			_, _ = q.Insert(r.ctx, rival()) // one of the two succeeds
		})
		_, _ = a.Insert(r.ctx, withBadge("B7"))
	})
}

// While an insert is paused, another process inserts and deletes the same entity, and a
// third one inserts an entity with the same badge.
func TestALateInsertKeepsItsReservation(t *testing.T) {
	testRace(t, func(r *race) {
		b, a, q := r.process(), r.process(), r.process()
		b.inside(1, func() {
			_, err := a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			r.must(a.Delete(r.ctx, jones().key()))
			_, _ = q.Insert(r.ctx, rival())
		})
		_, _ = b.Insert(r.ctx, withBadge("B7"))
	})
}

// The first insert was applied, but not drained, when the second one reserves the row.
func TestADrainKeepsTheReservationsOfOthers(t *testing.T) {
	testRace(t, func(r *race) {
		a, b, c, q := r.process(), r.process(), r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge("B7"))
		b.inside(1, func() {
			r.handle(0) // of a's insert
			r.must(c.Delete(r.ctx, jones().key()))
			_, err := q.Insert(r.ctx, rival())
			r.refused("another entity", err)
		})
		_, err := b.Insert(r.ctx, withBadge("B7"))
		r.must(err)
	})
}

// The first run of an update sets a badge. The second run, after a conflict, sets none, and
// needs the outbox for another row or not at all.
func TestARetryReleasesTheReservationsOfTheEarlierTry(t *testing.T) {
	for _, name := range []string{jones().Name, "Ann Smith"} {
		testRace(t, func(r *race) {
			setup, a, b, q := r.process(), r.process(), r.process(), r.process()
			_, err := setup.Insert(r.ctx, withBadge(""))
			r.must(err)
			a.inside(1, func() {
				_, err := b.Update(r.ctx, jones().key(), func(h *hire) error { h.Head = true; return nil })
				r.must(err)
			})
			badge := "B7"
			_, err = a.Update(r.ctx, jones().key(), func(h *hire) error {
				h.Name, h.Badge, badge = name, badge, ""
				return nil
			})
			r.must(err)
			_, err = q.Insert(r.ctx, rival())
			r.must(err)
			if n := r.queue.Len(); n != 0 {
				r.must(errors.New("a message remains"))
			}
		})
	}
}

// A worker receives the message before its time.
func TestAnOperationThatIsFencedEarlyStartsOver(t *testing.T) {
	testRace(t, func(r *race) {
		b, transactions := r.process(), 0
		b.changed = func() { transactions++ }
		b.inside(1, func() { r.handle(0) })
		_, err := b.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		assert.Equal(t, transactions, 2, "transactions")
	})
}

// The replies to the transaction and to all reads that resolve its outcome are lost.
func TestAnOperationOfUnknownOutcomeKeepsItsReservations(t *testing.T) {
	testRace(t, func(r *race) {
		b, q := r.process(), r.process()
		var sent atomic.Bool
		b.loseReply = func(_, path string) bool {
			if strings.HasSuffix(path, "$batch") {
				sent.Store(true)
			}
			return sent.Load() && !strings.Contains(path, "'badge'")
		}
		_, err := b.Insert(r.ctx, withBadge("B7"))
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
		assert.Equal(t, r.queue.Len(), 1, "messages remain")
		_, err = q.Insert(r.ctx, rival())
		r.refused("another entity", err)
	})
}

// An operation is refused in its transaction, and its requests to release its reservations
// are lost.
func TestAReleaseThatFailsIsLeftToAWorker(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a := r.process(), r.process()
		var sent atomic.Bool
		_, err := setup.Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		r.must(err)
		a.changed = func() { sent.Store(true) }
		a.loseRequest = func(_, path string) bool { return sent.Load() && strings.HasSuffix(path, rowB7) }
		twin := withBadge("B7")
		twin.Email = "taken"
		_, err = a.Insert(r.ctx, twin)
		r.refused("the taken address", err)
	})
}

// The request of the transaction is lost, and a worker inserts the fence before the writer.
func TestAWriterFencedByAWorkerReportsFailure(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		var lost, fenced atomic.Bool
		a.loseRequest = func(_, path string) bool {
			if !strings.HasSuffix(path, "$batch") {
				return false
			}
			lost.Store(true)
			return !fenced.Load()
		}
		a.sending = func(method, path string) {
			if method == "POST" && strings.HasSuffix(path, "/hires") && lost.Load() && fenced.CompareAndSwap(false, true) {
				r.handle(0)
			}
		}
		_, err := a.Insert(r.ctx, withBadge("B7"))
		if !fenced.Load() || !errors.Is(err, harness.ErrLost) || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("(fenced: %v) got %v", fenced.Load(), err)
		}
		_, err = r.process().Insert(r.ctx, withBadge("B7"))
		r.must(err)
	})
}
