package patterns_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// copies makes n copies in the entity's partition.
func copies(n *int) patterns.View[hire] {
	return patterns.NewView("copies", patterns.Shape{}, func(h *hire) (rows []patterns.DerivedRow, err error) {
		for i := range *n {
			rows = append(rows, patterns.CopyRow(keys.Key{Partition: h.Dept, Row: fmt.Sprintf("x%02d", i)}, patterns.CopySpec{}))
		}
		return rows, nil
	})
}

// beyond takes a refusal with a plan that says rows, and nothing sent.
func beyond(t *testing.T, b *harness.Backend, rows int, says string, err error) {
	t.Helper()
	var plan *patterns.PlanError
	if !errors.As(err, &plan) || !errors.Is(err, patterns.ErrTooLarge) || !strings.Contains(err.Error(), says) {
		t.Fatalf("got %v, want a plan refused because of %s", err, says)
	}
	if !strings.Contains(plan.Plan.String(), fmt.Sprintf("transaction of %d rows", rows)) {
		t.Errorf("the plan is not of %d rows:\n%v", rows, plan.Plan)
	}
	requests(t, b, 0)
}

// TestATransactionOfMoreThan4MiBIsRefusedWithThePlan adds copies of 90 KB until they
// are too many.
func TestATransactionOfMoreThan4MiBIsRefusedWithThePlan(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n := 40
		s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{copies(&n)}})
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 30_000)
		h := &hire{Dept: "Sales", ID: "1", Name: long, Badge: long, Last: long}
		var sent, before int64
		for ; n < 60; n++ {
			b.ResetRequests()
			h.Age++ // every copy is written
			if _, err = s.Put(t.Context(), h); err != nil {
				break
			}
			log := b.Requests()
			before, sent = sent, log[len(log)-1].RequestBytes
		}
		if row := sent - before; sent > patterns.MaxBatchBytes || sent+row <= patterns.MaxBatchBytes {
			t.Errorf("%d bytes were sent, and a row of %d more refused", sent, row)
		}
		b.ResetRequests()
		h.ID = "2"
		_, err = s.Insert(t.Context(), h)
		beyond(t, b, n+1, fmt.Sprint(patterns.MaxBatchBytes, " bytes"), err)
	})
}

// TestTheOutboxRowCountsAsWell has 99 copies, which fit without an outbox row.
func TestTheOutboxRowCountsAsWell(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n, q := 99, &memQueue{}
		s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{copies(&n), byBadge()}, Outbox: q})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Insert(t.Context(), withBadge("")); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), jones().key()); err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		_, err = s.Insert(t.Context(), withBadge("B7"))
		beyond(t, b, 101, "100 operations", err)
		if q.len() != 0 {
			t.Errorf("%d messages are left", q.len())
		}
	})
}
