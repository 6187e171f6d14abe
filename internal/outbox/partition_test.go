package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/patterns"
)

// withinPartition runs body on a place whose views are all in the partition, and
// then checks their rows.
func testRaceInPartition(t *testing.T, body func(h *race)) {
	t.Helper()
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, viewsHere)
		if err != nil {
			return err
		}
		h := &race{cluster: c, ctx: ctx}
		body(h)
		h.must(inPartition(ctx, c))
		return errors.Join(h.errs...)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestADuplicateIsCertainAfterALostTry loses the request of a transaction once;
// the next is refused because of a copy, so that neither was carried out.
func TestADuplicateIsCertainAfterALostTry(t *testing.T) {
	testRaceInPartition(t, func(h *race) {
		setup, a := h.process(), h.process()
		var lost atomic.Bool
		_, err := setup.Insert(h.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email})
		h.must(err)
		a.loseRequest = func(_, path string) bool {
			return strings.HasSuffix(path, "$batch") && lost.CompareAndSwap(false, true)
		}
		_, err = a.Insert(h.ctx, jones())
		h.refused("the taken address", err)
	})
}

// TestAnUpdateWithinThePartitionIsAppliedOnce loses the replies to its transaction.
func TestAnUpdateWithinThePartitionIsAppliedOnce(t *testing.T) {
	testRaceInPartition(t, func(h *race) {
		a := h.process()
		var sent atomic.Int32
		_, err := a.Insert(h.ctx, jones())
		h.must(err)
		a.loseReply = func(_, path string) bool {
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

// TestACopyThatIsAlreadyCorrectIsNotDeletedByARepair has a copy be left without its
// entity, and mended while the entity is inserted again.
func TestACopyThatIsAlreadyCorrectIsNotDeletedByARepair(t *testing.T) {
	testRaceInPartition(t, func(h *race) {
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

// TestARepairWritesNoRowOfAChangedEntity takes the address away while a mend puts
// its row back.
func TestARepairWritesNoRowOfAChangedEntity(t *testing.T) {
	testRaceInPartition(t, func(h *race) {
		a, b := h.process(), h.process()
		var mended atomic.Bool
		_, err := a.Insert(h.ctx, jones())
		h.must(err)
		ref := patterns.RowRef{View: "byEmail", Partition: "Sales", Row: "email_" + jones().Email}
		_, err = h.own.DeleteEntity(h.ctx, ref.Partition, ref.Row, nil)
		h.must(err)
		a.sending = func(method, _ string) {
			if method != "GET" && mended.CompareAndSwap(false, true) {
				_, err := b.Update(h.ctx, jones().key(), func(h *hire) error { h.Email = ""; return nil })
				h.must(err)
			}
		}
		h.must(a.Repair(h.ctx, jones().key(), ref))
		if !mended.Load() {
			h.must(errors.New("nothing was mended"))
		}
	})
}
