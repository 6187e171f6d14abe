package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// testRaceInPartition runs body on a cluster whose views are all in the primary's
// partition, and then checks their rows. If views is empty it takes all such views.
func testRaceInPartition(t *testing.T, body func(r *race), views ...string) {
	t.Helper()
	if len(views) == 0 {
		views = viewsHere
	}
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, views)
		if err != nil {
			return err
		}
		r := &race{cluster: c, ctx: ctx}
		body(r)
		r.must(inPartition(ctx, c))
		return errors.Join(r.errs...)
	})
	assert.Equal(t, err, nil)
}

// The replies to the transaction are lost.
func TestAnUpdateWithinThePartitionIsAppliedOnce(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a := r.process()
		var sent atomic.Int32
		_, err := a.Insert(r.ctx, jones())
		r.must(err)
		a.loseReply = func(_, path string) bool {
			if strings.HasSuffix(path, "$batch") {
				sent.Add(1)
			}
			return sent.Load() == 1
		}
		_, err = a.Update(r.ctx, jones().key(), func(h *hire) error { h.Age, h.Email = h.Age+1, "new"; return nil })
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
		item, err := r.process().Get(r.ctx, jones().key())
		r.must(err)
		assert.Equal(t, sent.Load(), 2)
		assert.Equal(t, item.Value.Age, jones().Age+1)
	})
}

// A copy without its entity is repaired while the entity is inserted again.
func TestACopyThatIsAlreadyCorrectIsNotDeletedByARepair(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, b := r.process(), r.process()
		_, err := a.Insert(r.ctx, jones())
		r.must(err)
		r.must(a.Table().Delete(r.ctx, jones().key(), ""))
		r.must(a.Repair(r.ctx, jones().key(), patterns.RowRef{View: "lastHere", Partition: "Sales", Row: "last_Jones"}))
		_, err = r.own.DeleteEntity(r.ctx, "Sales", "department", nil) // counts no entity
		r.must(err)
		a.inside(2, func() { // the first one finds the copy
			r.must(b.Repair(r.ctx, jones().key(), patterns.RowRef{View: "byEmail", Partition: "Sales", Row: "email_" + jones().Email}))
		})
		_, err = a.Insert(r.ctx, jones())
		r.must(err)
	})
}

// The address is removed from the entity while a repair restores its row.
func TestARepairWritesNoRowOfAChangedEntity(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, b := r.process(), r.process()
		var repaired atomic.Bool
		_, err := a.Insert(r.ctx, jones())
		r.must(err)
		ref := patterns.RowRef{View: "byEmail", Partition: "Sales", Row: "email_" + jones().Email}
		_, err = r.own.DeleteEntity(r.ctx, ref.Partition, ref.Row, nil)
		r.must(err)
		a.sending = func(method, _ string) {
			if method != "GET" && repaired.CompareAndSwap(false, true) {
				_, err := b.Update(r.ctx, jones().key(), func(h *hire) error { h.Email = ""; return nil })
				r.must(err)
			}
		}
		r.must(a.Repair(r.ctx, jones().key(), ref))
		if !repaired.Load() {
			r.must(errors.New("nothing was repaired"))
		}
	})
}

// An insert is applied with status 500. Before the next attempt the entity is deleted, and
// another one gets its address, so the attempt is refused because of a copy.
func TestADuplicateIsUncertainAfterAnInsertThatMayBeApplied(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		sent := 0
		a, err := r.start(&process{Process: &harness.Process{Decide: func(_, path string) (f harness.Fate) {
			if isTransaction("", path) {
				if sent++; sent == 1 {
					f.What = harness.Failed
				}
			}
			return f
		}}})
		r.must(err)
		replaced := false
		a.sending = func(_, path string) {
			if sent == 2 && !replaced {
				replaced = true
				b := r.process()
				r.must(b.Delete(r.ctx, jones().key()))
				_, err := b.Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email})
				r.must(err)
			}
		}
		_, err = a.Insert(r.ctx, jones())
		if !replaced || !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("(replaced: %v) got %v", replaced, err)
		}
	}, "byEmail")
}
