package wideentity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

func TestAStagedWriteWhoseMarkerWasSweptFailsAndChangesNothing(t *testing.T) {
	testSweptMarker(t, func(*harness.Backend) {})
}

// An earlier attempt of the transaction that changes the head was answered with an error.
func TestAStagedWriteWhoseMarkerWasSweptIsAConflictAfterAnErrorOfTheServer(t *testing.T) {
	testSweptMarker(t, func(b *harness.Backend) {
		b.Fault(storagetest.On("Table.Batch").Where(func(q storagetest.Request) bool {
			return strings.Contains(fmt.Sprint(q.Rows), year.Row+"_00")
		}).Nth(1).Status(500, "InternalError"))
	})
}

func testSweptMarker(t *testing.T, prepare func(b *harness.Backend)) {
	t.Helper()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		other := open[properties](t, b.Direct(t, name), nil)
		first := properties{"A": "first"}
		assert.Must(other.Insert(t.Context(), &first))(t)
		swept := 0
		table := open[properties](t, b.AfterEachTry(t, name, func(try int) {
			if try == 2 {
				swept += sweepNow(t, other, year).Done
			}
		}), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		item := assert.Must(table.Get(t.Context(), year))(t) // try 1
		item.Value = large("x")
		prepare(b)
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
		if swept == 0 {
			t.Error("nothing was swept")
		}
		if r := sweepNow(t, other, year); r.Found != 0 {
			t.Errorf("rows left over: %+v", r)
		}
		wantProperties(t, assert.Must(other.Get(t.Context(), year))(t).Value, first)
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
			if r.Done != 0 && r.Done != replaced || err != nil {
				t.Errorf("swept %d rows: %v", r.Done, err)
			}
			young = max(young, r.Skipped)
		}), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		for _, mark := range []string{"x", "y"} {
			v := large(mark)
			assert.Must(table.Put(t.Context(), &v))(t)
			wantProperties(t, assert.Must(other.Get(t.Context(), year))(t).Value, v)
			replaced = len(v)
		}
		if young != len(large(""))+1 {
			t.Errorf("%d young rows, want those of the write and its marker", young)
		}
	})
}

// abandon stages a write whose process is killed before the head changes.
func abandon(t *testing.T, b *harness.Backend, name string) {
	t.Helper()
	table := open[properties](t, b.Service(t).NewClient(name), nil)
	wideentity.SetBatchBytes(table, smallBatch)
	v := large("x")
	b.Fault(storagetest.On("Table.Batch").Nth(2).Times(storagetest.Forever).LoseRequest())
	if _, err := table.Insert(t.Context(), &v); err == nil {
		t.Fatal("the write was not abandoned")
	}
	b.ClearFaults()
}

func TestASweepWhoseReplyIsLostSucceeds(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		abandon(t, b, name)
		b.Fault(storagetest.On("Table.Delete").Nth(1).LoseReply(), storagetest.On("Table.Batch").Nth(1).LoseReply())
		if r := sweepNow(t, open[properties](t, b.Service(t).NewClient(name), nil), year); r.Done == 0 {
			t.Errorf("%+v", r)
		}
		if n := rawRows(t, b, b.Direct(t, name)); n != 0 {
			t.Errorf("%d rows left over", n)
		}
	})
}

// The reply to the first transaction of a staged write is lost. Before it is repeated, a
// sweep deletes its rows, and an attempt of the sweep arrives after the write has
// succeeded.
func TestALateRequestOfASweepDeletesNoRowThatWasInsertedAgain(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		sweeper := open[properties](t, b.Service(t).NewClient(name), nil)
		table := open[properties](t, b.AfterEachTry(t, name, func(try int) {
			if try == 1 {
				sweepNow(t, sweeper, year)
			}
		}), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		v := large("x")
		b.Fault(storagetest.On("Table.Batch").Nth(1).LoseReply(), storagetest.On("Table.Batch").Nth(2).LateRequest(time.Hour, time.Hour))
		assert.Must(table.Insert(t.Context(), &v))(t)
		if b.Arrive() != 1 {
			t.Error("no request of the sweep was late")
		}
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}
