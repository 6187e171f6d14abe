package patterns_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// withinPartition runs body on a place whose views are all in the partition, and
// then checks their rows.
func withinPartition(t *testing.T, body func(h *held)) {
	t.Helper()
	err := inVirtualTime(t, func(ctx context.Context) error {
		p, err := newPlace(ctx, viewsHere)
		if err != nil {
			return err
		}
		h := &held{place: p, ctx: ctx}
		body(h)
		h.must(inPartition(ctx, p))
		return errors.Join(h.errs...)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestADuplicateIsCertainThoughATryGotLost loses the request of a transaction once;
// the next is refused because of a copy, so that neither was carried out.
func TestADuplicateIsCertainThoughATryGotLost(t *testing.T) {
	withinPartition(t, func(h *held) {
		setup, a := h.process(), h.process()
		var lost atomic.Bool
		_, err := setup.Insert(h.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email})
		h.must(err)
		a.cut = func(_, path string) bool {
			return strings.HasSuffix(path, "$batch") && lost.CompareAndSwap(false, true)
		}
		_, err = a.Insert(h.ctx, jones())
		h.refused("the taken address", err)
	})
}

// TestAnUpdateWithinThePartitionIsNeverDoneTwice loses the replies to its transaction.
func TestAnUpdateWithinThePartitionIsNeverDoneTwice(t *testing.T) {
	withinPartition(t, func(h *held) {
		a := h.process()
		var sent atomic.Int32
		_, err := a.Insert(h.ctx, jones())
		h.must(err)
		a.deaf = func(_, path string) bool {
			if strings.HasSuffix(path, "$batch") {
				sent.Add(1)
			}
			return sent.Load() == 1
		}
		_, err = a.Update(h.ctx, jones().key(), func(h *hire) error { h.Age, h.Email = h.Age+1, "new"; return nil })
		if !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		item, err := h.process().Get(h.ctx, jones().key())
		h.must(err)
		if sent.Load() != 2 || item.Value.Age != jones().Age+1 {
			t.Errorf("%d transactions were sent, and the age is %d", sent.Load(), item.Value.Age)
		}
	})
}

// TestACopyThatStandsByChanceIsNotClearedAwayUnseen has a copy be left without its
// entity, and mended while the entity is inserted again.
func TestACopyThatStandsByChanceIsNotClearedAwayUnseen(t *testing.T) {
	withinPartition(t, func(h *held) {
		a, b := h.process(), h.process()
		_, err := a.Insert(h.ctx, jones())
		h.must(err)
		h.must(a.Table().Delete(h.ctx, jones().key(), ""))
		h.must(a.Repair(h.ctx, jones().key(), patterns.RowRef{View: "lastHere", Partition: "Sales", Row: "last_Jones"}))
		_, err = h.own.DeleteEntity(h.ctx, "Sales", "department", nil) // counts nobody any more
		h.must(err)
		a.inside(2, func() { // the first finds the copy
			h.must(b.Repair(h.ctx, jones().key(), patterns.RowRef{View: "byEmail", Partition: "Sales", Row: "email_" + jones().Email}))
		})
		_, err = a.Insert(h.ctx, jones())
		h.must(err)
	})
}

// TestASweepBarsWhatItReleases lets an operation that holds a row pause until a sweep
// has released the row.
func TestASweepBarsWhatItReleases(t *testing.T) {
	badgeTest(t, func(h *held) {
		b, q, sweeper := h.process(), h.process(), h.process()
		b.inside(1, func() {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(h.ctx, nil)
			h.must(err)
			if report.Released != 1 || n(report) != 1 {
				t.Errorf("swept %v", report)
			}
			_, err = q.Insert(h.ctx, somebodyElse())
			h.must(err)
		})
		_, err := b.Insert(h.ctx, withBadge("B7"))
		h.refused("the operation that was too late", err)
	})
}

// TestASweepLeavesRecordsUntilTheyExpire sweeps the record of an operation twice.
func TestASweepLeavesRecordsUntilTheyExpire(t *testing.T) {
	badgeTest(t, func(h *held) {
		a, sweeper := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge(""))
		for i, want := range []patterns.SweepReport{{Drained: 1}, {Young: 1}} {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(h.ctx, nil)
			h.must(err)
			if report.Drained != want.Drained || report.Young != want.Young || n(report) != 1 {
				t.Errorf("sweep %d says %v, want %v", i+1, report, want)
			}
		}
	})
}

// TestAMendWritesNoRowOfAnEntityThatHasChanged takes the address away while a mend puts
// its row back.
func TestAMendWritesNoRowOfAnEntityThatHasChanged(t *testing.T) {
	withinPartition(t, func(h *held) {
		a, b := h.process(), h.process()
		var mended atomic.Bool
		_, err := a.Insert(h.ctx, jones())
		h.must(err)
		place := patterns.RowRef{View: "byEmail", Partition: "Sales", Row: "email_" + jones().Email}
		_, err = h.own.DeleteEntity(h.ctx, place.Partition, place.Row, nil)
		h.must(err)
		a.sending = func(method, _ string) {
			if method != "GET" && mended.CompareAndSwap(false, true) {
				_, err := b.Update(h.ctx, jones().key(), func(h *hire) error { h.Email = ""; return nil })
				h.must(err)
			}
		}
		h.must(a.Repair(h.ctx, jones().key(), place))
		if !mended.Load() {
			h.must(errors.New("nothing was mended"))
		}
	})
}
