package patterns_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

const rowB7 = "(PartitionKey='badge',RowKey='B7')"

// TestAWorkerReadsTheRowBeforeThePrimary has a worker look after a change that gives a
// badge up, while another takes it back for the same entity.
func TestAWorkerReadsTheRowBeforeThePrimary(t *testing.T) {
	badgeTest(t, func(h *held) {
		setup, a, b, q, w := h.process(), h.process(), h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, withBadge("B7"))
		h.must(err)
		a.changed = a.kill
		_ = a.giveBadge(h.ctx, "B8")
		var back, gone atomic.Bool
		w.sending = func(method, path string) {
			if method == "GET" && strings.HasSuffix(path, rowB7) && back.CompareAndSwap(false, true) {
				h.must(b.giveBadge(h.ctx, "B7"))
			}
		}
		w.deaf = func(method, path string) bool {
			if method == "DELETE" && strings.HasSuffix(path, rowB7) && gone.CompareAndSwap(false, true) {
				_, err := q.Insert(h.ctx, somebodyElse())
				h.refused("another entity", err)
			}
			return false
		}
		_, err = w.Handle(h.ctx, h.queue.messages[0].wakeup)
		h.must(err)
		if !back.Load() {
			h.must(errors.New("the worker did not read the row"))
		}
	})
}

// TestAWriterThatComesLateLeavesTheRowToItsNextOwner lets a badge change hands between
// a writer's transaction and its write of the reserved row.
func TestAWriterThatComesLateLeavesTheRowToItsNextOwner(t *testing.T) {
	badgeTest(t, func(h *held) {
		a, b, q := h.process(), h.process(), h.process()
		var late atomic.Bool
		a.sending = func(method, path string) {
			if method != "GET" && strings.HasSuffix(path, rowB7) && late.CompareAndSwap(false, true) {
				h.handle(0)
				h.must(b.giveBadge(h.ctx, "B8"))
				_, err := q.Insert(h.ctx, somebodyElse())
				h.must(err)
			}
		}
		_, err := a.Insert(h.ctx, withBadge("B7"))
		h.must(err)
		if !late.Load() {
			h.must(errors.New("the writer did not write the row"))
		}
	})
}

// TestARowTakenBackIsNotFreeAnyMore has an entity take back a badge that it had given
// up, between another's look at it and that one's reservation.
func TestARowTakenBackIsNotFreeAnyMore(t *testing.T) {
	badgeTest(t, func(h *held) {
		setup, a, b, q := h.process(), h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, withBadge("B7"))
		h.must(err)
		a.changed = a.kill
		_ = a.giveBadge(h.ctx, "B8") // the row still stands
		var back atomic.Bool
		q.sending = func(method, path string) {
			if method != "GET" && strings.HasSuffix(path, rowB7) && back.CompareAndSwap(false, true) {
				h.must(b.giveBadge(h.ctx, "B7"))
			}
		}
		_, err = q.Insert(h.ctx, somebodyElse())
		h.refused("another entity", err)
		if !back.Load() {
			h.must(errors.New("the row was not asked for"))
		}
	})
}

// TestAReleaseThatFailsIsLeftToAWorker refuses an operation in its transaction, and
// then loses its requests to give back what it holds.
func TestAReleaseThatFailsIsLeftToAWorker(t *testing.T) {
	badgeTest(t, func(h *held) {
		setup, a := h.process(), h.process()
		var sent atomic.Bool
		_, err := setup.Insert(h.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		h.must(err)
		a.changed = func() { sent.Store(true) }
		a.cut = func(_, path string) bool { return sent.Load() && strings.HasSuffix(path, rowB7) }
		twin := withBadge("B7")
		twin.Email = "taken"
		_, err = a.Insert(h.ctx, twin)
		h.refused("the taken address", err)
	})
}

// TestWhoTakesAnAbandonedRowLeavesNothingBehind is the same as
// TestWhoTakesAnAbandonedRowBarsItsOperation where the queue was lost meanwhile.
func TestWhoTakesAnAbandonedRowLeavesNothingBehind(t *testing.T) {
	badgeTest(t, func(h *held) {
		b, q := h.process(), h.process()
		b.inside(1, func() {
			h.queue.messages = nil
			time.Sleep(2 * testGrace)
			_, err := q.Insert(h.ctx, somebodyElse())
			h.must(err)
			b.kill()
		})
		_, _ = b.Insert(h.ctx, withBadge("B7"))
	})
}

// TestAnOldOperationIsRememberedFromWhenItIsDone has the worker come after the expiry.
func TestAnOldOperationIsRememberedFromWhenItIsDone(t *testing.T) {
	badgeTest(t, func(h *held) {
		a, w := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge("B7"))
		time.Sleep(2 * testExpiry)
		again, err := w.Handle(h.ctx, h.queue.messages[0].wakeup)
		h.must(err)
		rows, err := shelve(h.ctx, h.own)
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

// TestAWakeUpNamesAllThatIsReserved has a change ask for another badge when it runs
// again, and its process die with that.
func TestAWakeUpNamesAllThatIsReserved(t *testing.T) {
	badgeTest(t, func(h *held) {
		setup, a, b := h.process(), h.process(), h.process()
		_, err := setup.Insert(h.ctx, withBadge(""))
		h.must(err)
		transactions := 0
		a.cut = func(_, path string) bool {
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
		badges := []string{"B7", "B8"}
		_, _ = a.Update(h.ctx, jones().key(), func(h *hire) error {
			h.Badge, badges = badges[0], badges[1:]
			return nil
		})
		rows, err := shelve(h.ctx, h.own)
		h.must(err)
		if transactions != 2 || rows["badge|B8"] == nil {
			t.Errorf("%d transactions, and the rows %v", transactions, rows)
		}
	})
}

// TestAWriterBarredByAWorkerKnowsThatItFailed loses the request of the transaction, and
// lets a worker be faster than the writer in barring it.
func TestAWriterBarredByAWorkerKnowsThatItFailed(t *testing.T) {
	badgeTest(t, func(h *held) {
		a := h.process()
		var lost, barred atomic.Bool
		a.cut = func(_, path string) bool {
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

// TestTwoViewsOfOneKeySpaceAreUniqueTogether has entities ask for one key through
// different views.
func TestTwoViewsOfOneKeySpaceAreUniqueTogether(t *testing.T) {
	spare := func(partition func(*hire) string) patterns.View[hire] {
		return patterns.NewView("bySpare", patterns.Shape{Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
			if h.Last == "" {
				return nil, nil
			}
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: partition(h), Row: h.Last}, patterns.CopySpec{Unique: true})}, nil
		})
	}
	local := patterns.NewView("byBadge", patterns.Shape{}, func(h *hire) ([]patterns.DerivedRow, error) {
		if h.Badge == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: h.Badge}, patterns.CopySpec{})}, nil
	})
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for what, views := range map[string][]patterns.View[hire]{
			"elsewhere":        {byBadge(), spare(func(*hire) string { return "badge" })},
			"in the partition": {local, spare(func(h *hire) string { return h.Dept })},
		} {
			client := b.Table(t)
			s, err := newHires(client, patterns.StoreOptions[hire]{Views: views, Outbox: &memQueue{}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Insert(t.Context(), &hire{Dept: "Sales", ID: "1", Badge: "B7"}); err != nil {
				t.Fatal(err)
			}
			before, err := shelve(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Insert(t.Context(), &hire{Dept: "Sales", ID: "2", Badge: "B8", Last: "B7"})
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != "bySpare" {
				t.Errorf("%s: got %v, want a duplicate in bySpare", what, err)
			}
			after, err := shelve(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			for key, p := range after {
				if show(p) != show(before[key]) {
					t.Errorf("%s: %s became %s", what, key, show(p))
				}
			}
			// The row goes from one view of an entity to the other.
			_, err = s.Update(t.Context(), keys.Key{Partition: "Sales", Row: "id_1"}, func(h *hire) error {
				h.Badge, h.Last = h.Last, h.Badge
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if after, err = shelve(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			row := after["badge|B7"]
			if row == nil {
				row = after["Sales|B7"]
			}
			if row["azp_view"] != "bySpare" || row["azp_rk"] != "id_1" || row["azp_op"] != nil {
				t.Errorf("%s: the row is %s", what, show(row))
			}
		}
	})
}
