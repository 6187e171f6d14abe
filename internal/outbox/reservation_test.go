package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// held is a place with several processes, for tests of who may have badge B7.
type race struct {
	*cluster
	ctx  context.Context
	errs []error
}

// badgeTest runs body and then checks that all is well.
func testRace(t *testing.T, body func(h *race)) {
	t.Helper()
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, fewViews)
		if err != nil {
			return err
		}
		h := &race{cluster: c, ctx: ctx}
		body(h)
		h.must((&schedule{cluster: c}).checkBadges(ctx))
		h.must(c.recover(ctx))
		h.must((&schedule{cluster: c}).checkBadges(ctx))
		h.must(verify(ctx, c.own, c.other, c.views, nil)) // no row of the outbox either
		return errors.Join(h.errs...)
	})
	if err != nil {
		t.Error(err)
	}
}

func (h *race) must(err error) {
	if err != nil {
		h.errs = append(h.errs, err)
	}
}

func (h *race) process() *process {
	p, err := h.start(&process{})
	h.must(err)
	return p
}

// fewViews have no row in common for two entities, which would make most races end
// in the transaction.
var fewViews = []string{"byEmail", "byBadge", "byName", "lastAll"}

// refused takes nothing but a *DuplicateError.
func (h *race) refused(what string, err error) {
	if !errors.As(err, new(*patterns.DuplicateError)) {
		h.errs = append(h.errs, errors.New(what+" was not refused"))
	}
}

// inside runs do right before the process's nth transaction.
func (p *process) inside(nth int, do func()) {
	n := 0
	p.sending = func(_, path string) {
		if strings.HasSuffix(path, "$batch") {
			if n++; n == nth {
				do()
			}
		}
	}
}

// handle lets a worker handle the nth message of the queue, from 0.
func (h *race) handle(nth int) {
	_, err := h.process().Handle(h.ctx, h.queue.Message(nth))
	h.must(err)
}

func withBadge(badge string) *hire {
	h := jones()
	h.Badge = badge
	return h
}

// somebodyElse wants the same badge, and shares no local row with jones.
func rival() *hire {
	return &hire{Dept: "Marketing", ID: "2", Name: "Bob", Last: "Bloggs", Badge: "B7"}
}

func (p *process) setBadge(ctx context.Context, badge string) error {
	_, err := p.Update(ctx, jones().key(), func(h *hire) error { h.Badge = badge; return nil })
	return err
}

// TestAReservedRowIsNeitherDeletedNorTaken has an entity give a badge up, and take it
// back before the first change is drained. Between the second reservation and its
// transaction the row looks as if nobody wanted it.
func TestAReservedRowIsNeitherDeletedNorTaken(t *testing.T) {
	testRace(t, func(h *race) {
		setup, a, b, q := h.process(), h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, withBadge("B7"))
		h.must(err)
		a.changed = a.kill
		_ = a.setBadge(h.ctx, "B8")
		b.inside(1, func() {
			h.handle(0) // of a's change
			rows, err := readTable(h.ctx, h.own)
			h.must(err)
			if rows["badge|B7"] == nil {
				h.must(errors.New("the race row is gone"))
			}
			_, err = q.Insert(h.ctx, rival())
			h.refused("another entity", err)
		})
		h.must(b.setBadge(h.ctx, "B7"))
	})
}

// TestTakingAnAbandonedRowFencesItsOperation lets an operation that holds a row
// pause beyond the grace time.
func TestTakingAnAbandonedRowFencesItsOperation(t *testing.T) {
	testRace(t, func(h *race) {
		b, q := h.process(), h.process()
		b.inside(1, func() {
			time.Sleep(2 * testGrace)
			_, err := q.Insert(h.ctx, rival())
			h.must(err)
		})
		_, err := b.Insert(h.ctx, withBadge("B7"))
		h.refused("the operation that was too late", err)
	})
}

// TestTakingAnAbandonedRowLeavesNoRecord is the same as
// TestTakingAnAbandonedRowFencesItsOperation where the queue was lost meanwhile.
func TestTakingAnAbandonedRowLeavesNoRecord(t *testing.T) {
	testRace(t, func(h *race) {
		b, q := h.process(), h.process()
		b.inside(1, func() {
			h.queue.Clear()
			time.Sleep(2 * testGrace)
			_, err := q.Insert(h.ctx, rival())
			h.must(err)
			b.kill()
		})
		_, _ = b.Insert(h.ctx, withBadge("B7"))
	})
}

// TestAnOperationReleasesOnlyItsOwnReservations has two operations hold one row for
// the same entity; the second gives up while the first is about to commit.
func TestAnOperationReleasesOnlyItsOwnReservations(t *testing.T) {
	testRace(t, func(h *race) {
		setup, a, b, q := h.process(), h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		h.must(err)
		a.inside(1, func() {
			twin := withBadge("B7")
			twin.Email = "taken"
			_, err := b.Insert(h.ctx, twin)
			h.refused("the taken address", err)
			_, _ = q.Insert(h.ctx, rival()) // one of the two may have the badge
		})
		_, _ = a.Insert(h.ctx, withBadge("B7"))
	})
}

// TestALateInsertKeepsItsReservation inserts an entity while another insert of
// it waits, deletes it again, and lets somebody else ask for its badge.
func TestALateInsertKeepsItsReservation(t *testing.T) {
	testRace(t, func(h *race) {
		b, a, q := h.process(), h.process(), h.process()
		b.inside(1, func() {
			_, err := a.Insert(h.ctx, withBadge("B7"))
			h.must(err)
			h.must(a.Delete(h.ctx, jones().key()))
			_, _ = q.Insert(h.ctx, rival())
		})
		_, _ = b.Insert(h.ctx, withBadge("B7"))
	})
}

// TestADrainKeepsTheReservationsOfOthers is the same where the first insert was
// carried out, but not drained, when the second reserves the row.
func TestADrainKeepsTheReservationsOfOthers(t *testing.T) {
	testRace(t, func(h *race) {
		a, b, c, q := h.process(), h.process(), h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge("B7"))
		b.inside(1, func() {
			h.handle(0) // of a's insert
			h.must(c.Delete(h.ctx, jones().key()))
			_, err := q.Insert(h.ctx, rival())
			h.refused("another entity", err)
		})
		_, err := b.Insert(h.ctx, withBadge("B7"))
		h.must(err)
	})
}

// TestARetryReleasesTheReservationsOfTheEarlierTry has a change want a badge at first,
// and none when it runs again because the entity was changed meanwhile; then it
// needs the outbox for another row, or not at all.
func TestARetryReleasesTheReservationsOfTheEarlierTry(t *testing.T) {
	for _, name := range []string{jones().Name, "Ann Smith"} {
		testRace(t, func(h *race) {
			setup, a, b, q := h.process(), h.process(), h.process(), h.process()
			_, err := setup.Insert(h.ctx, withBadge(""))
			h.must(err)
			a.inside(1, func() {
				_, err := b.Update(h.ctx, jones().key(), func(h *hire) error { h.Head = true; return nil })
				h.must(err)
			})
			badge := "B7"
			_, err = a.Update(h.ctx, jones().key(), func(h *hire) error {
				h.Name, h.Badge, badge = name, badge, ""
				return nil
			})
			h.must(err)
			_, err = q.Insert(h.ctx, rival())
			h.must(err)
			if n := h.queue.Len(); n != 0 {
				h.must(errors.New("a message is left"))
			}
		})
	}
}

// TestAnOperationThatIsFencedEarlyStartsOver has its wake-up shown before its time.
func TestAnOperationThatIsFencedEarlyStartsOver(t *testing.T) {
	testRace(t, func(h *race) {
		b, transactions := h.process(), 0
		b.changed = func() { transactions++ }
		b.inside(1, func() { h.handle(0) })
		_, err := b.Insert(h.ctx, withBadge("B7"))
		h.must(err)
		if transactions != 2 {
			t.Errorf("%d transactions", transactions)
		}
	})
}

// TestAnOperationOfUnknownOutcomeKeepsItsReservations loses the replies to the transaction and to
// all that asks for its outcome.
func TestAnOperationOfUnknownOutcomeKeepsItsReservations(t *testing.T) {
	testRace(t, func(h *race) {
		b, q := h.process(), h.process()
		var sent atomic.Bool
		b.loseReply = func(_, path string) bool {
			if strings.HasSuffix(path, "$batch") {
				sent.Store(true)
			}
			return sent.Load() && !strings.Contains(path, "'badge'")
		}
		_, err := b.Insert(h.ctx, withBadge("B7"))
		if !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		if h.queue.Len() != 1 {
			t.Errorf("%d messages are left", h.queue.Len())
		}
		_, err = q.Insert(h.ctx, rival())
		h.refused("another entity", err)
	})
}

// TestAReleaseThatFailsIsLeftToAWorker refuses an operation in its transaction, and
// then loses its requests to give back what it holds.
func TestAReleaseThatFailsIsLeftToAWorker(t *testing.T) {
	testRace(t, func(h *race) {
		setup, a := h.process(), h.process()
		var sent atomic.Bool
		_, err := setup.Insert(h.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		h.must(err)
		a.changed = func() { sent.Store(true) }
		a.loseRequest = func(_, path string) bool { return sent.Load() && strings.HasSuffix(path, rowB7) }
		twin := withBadge("B7")
		twin.Email = "taken"
		_, err = a.Insert(h.ctx, twin)
		h.refused("the taken address", err)
	})
}

// TestAWriterFencedByAWorkerReportsFailure loses the request of the transaction, and
// lets a worker be faster than the writer in barring it.
func TestAWriterFencedByAWorkerReportsFailure(t *testing.T) {
	testRace(t, func(h *race) {
		a := h.process()
		var lost, barred atomic.Bool
		a.loseRequest = func(_, path string) bool {
			if !strings.HasSuffix(path, "$batch") {
				return false
			}
			lost.Store(true)
			return !barred.Load()
		}
		a.sending = func(method, path string) {
			if method == "POST" && strings.HasSuffix(path, "/hires") && lost.Load() && barred.CompareAndSwap(false, true) {
				h.handle(0)
			}
		}
		_, err := a.Insert(h.ctx, withBadge("B7"))
		if !barred.Load() || !errors.Is(err, errLost) || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("(barred: %v) got %v", barred.Load(), err)
		}
		_, err = h.process().Insert(h.ctx, withBadge("B7"))
		h.must(err)
	})
}
