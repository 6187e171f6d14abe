package wideentity_test

import (
	"errors"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"testing"
)

func TestAStagedWriteWhoseMarkerWasSweptFailsAndChangesNothing(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		other := open[properties](t, b.Direct(t, name), nil)
		first := properties{"A": "first"}
		harness.Must(other.Insert(t.Context(), year, &first))(t)
		swept := 0
		table := open[properties](t, b.AfterEachTry(t, name, func(try int) {
			if try == 2 {
				swept += sweepNow(t, other, year).Deleted
			}
		}), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		item := harness.Must(table.Get(t.Context(), year))(t) // try 1
		item.Value = large("x")
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
		if swept == 0 {
			t.Error("nothing was swept")
		}
		if r := sweepNow(t, other, year); r != (wideentity.SweepReport{}) {
			t.Errorf("rows left over: %+v", r)
		}
		wantProperties(t, harness.Must(other.Get(t.Context(), year))(t).Value, first)
	})
}

func TestASweepLeavesTheRowsOfAWriteInProgress(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		other := open[properties](t, b.Direct(t, name), nil)
		young, replaced := 0, 0 // replaced: the rows that the write itself would delete next
		table := open[properties](t, b.AfterEachTry(t, name, func(int) {
			r, err := other.Sweep(t.Context(), nil)
			if r.Deleted != 0 && r.Deleted != replaced || err != nil {
				t.Errorf("swept %d rows: %v", r.Deleted, err)
			}
			young = max(young, r.Young)
		}), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		for _, mark := range []string{"x", "y"} {
			v := large(mark)
			harness.Must(table.Put(t.Context(), year, &v))(t)
			wantProperties(t, harness.Must(other.Get(t.Context(), year))(t).Value, v)
			replaced = len(v)
		}
		if young != len(large(""))+1 {
			t.Errorf("%d young rows, want those of the write and its marker", young)
		}
	})
}
