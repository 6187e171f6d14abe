package regions_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAReadUsesTheSecondaryIfThePrimaryIsDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		item := harness.Must(w.table.Get(t.Context(), r.key()))(t)
		if item.Source != (regions.Source{Region: regions.Primary}) {
			t.Errorf("source %+v of a read from the primary", item.Source)
		}
		w.wantRequests(t, 1, 0, 0)
		w.account.Down(storagetest.Primary)
		for i := range 10 {
			item = harness.Must(w.table.Get(t.Context(), r.key()))(t)
			if item.Region != regions.Secondary || item.MaxAge < lag || item.MaxAge > lag+2*time.Second || item.Value != r {
				t.Errorf("read %d: %+v", i, item)
			}
		}
		// The first three reads find out that the primary is down.
		w.wantRequests(t, 3, 10, 1)
	})
}

func TestThePrimarysErrorIsReturnedIfBothRegionsAreDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Fault(storagetest.On("Table.Get").Times(storagetest.Forever).Where(func(q storagetest.Request) bool { return q.Region == storagetest.Primary }).Status(500, "InternalError"))
		w.account.Down(storagetest.Secondary)
		_, err := w.table.Get(t.Context(), r.key())
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || refused.StatusCode != http.StatusInternalServerError {
			t.Errorf("error %v", err)
		}
		w.account.Down(storagetest.Primary, storagetest.Secondary)
		w.account.ClearFaults()
		var lost *storagetest.LostError
		if _, err := w.table.Get(t.Context(), r.key()); !errors.As(err, &lost) {
			t.Errorf("error %v", err)
		}
		w.account.Down()
		harness.NoError(t, get(t.Context(), w, r))
	})
}

func TestARowThatIsOnlyMissingOnTheSecondaryIsNotReportedAsNotFound(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.replicate()
		late := w.insert(t, 1, 1)[0] // after the Last Sync Time
		w.account.Down(storagetest.Primary)
		for range 5 { // while the primary is found to be down, and after
			_, err := w.table.Get(t.Context(), late.key())
			var absent *regions.AbsentError
			var refused *azcore.ResponseError
			if !errors.As(err, &absent) || errors.Is(err, patterns.ErrNotFound) || !errors.As(err, &refused) {
				t.Fatalf("error %v", err)
			}
			if absent.MaxAge < lag || absent.MaxAge > lag+20*time.Second { // the SDK tried again until the primary was down
				t.Errorf("max age %v", absent.MaxAge)
			}
			harness.WantHidden(t, err, late.PartitionKey, late.RowKey)
		}
		w.account.Down()
		missing := row{PartitionKey: "p", RowKey: "none"}
		time.Sleep(time.Minute)
		harness.NoError(t, get(t.Context(), w, late))
		time.Sleep(time.Minute)
		harness.WantError(t, get(t.Context(), w, missing), patterns.ErrNotFound)
	})
}

func TestStrictReadsAndWritesNeverUseTheSecondary(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		if err := get(regions.Strict(t.Context()), w, r); err == nil {
			t.Error("a strict read was answered")
		}
		if _, err := w.rows.Get(t.Context(), r.key()); err == nil {
			t.Error("a read of patterns.Table was answered")
		}
		ctx, report := regions.Permit(t.Context())
		if _, err := w.rows.Update(ctx, r.key(), func(r *row) error { r.N++; return nil }); err == nil {
			t.Error("a write was accepted")
		}
		if report.Source().Region != regions.Secondary {
			t.Errorf("the row was read from %q", report.Source().Region)
		}
		for _, q := range w.account.Log() {
			if q.Region == storagetest.Secondary && q.Op != "Table.Get" && q.Op != "Table.Stats" {
				t.Errorf("the secondary received %v", q)
			}
		}
		if secondary := w.sent[toSecondary].Load(); secondary != 1 {
			t.Errorf("%d reads of the secondary, want that of Update before its write", secondary)
		}
		ctx, report = regions.Permit(regions.Strict(t.Context()))
		if _, err := w.rows.Get(ctx, r.key()); err == nil || report.Source() != (regions.Source{}) {
			t.Error("Permit within Strict had an effect")
		}
	})
}

func TestAConditionalWriteBasedOnAStaleReadIsAConflict(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		harness.Must(w.rows.Update(t.Context(), r.key(), func(r *row) error { r.N = 7; return nil }))(t)
		w.account.Down(storagetest.Primary)
		stale := harness.Must(w.table.Get(t.Context(), r.key()))(t)
		w.account.Down()
		if stale.Value.N != 0 || stale.Region != regions.Secondary {
			t.Fatalf("not stale: %+v", stale)
		}
		_, err := w.rows.Replace(t.Context(), stale.Item)
		harness.WantError(t, err, patterns.ErrConflict)
		time.Sleep(lag)
		w.account.Down(storagetest.Primary)
		current := harness.Must(w.table.Get(t.Context(), r.key()))(t)
		w.account.Down()
		harness.Must(w.rows.Replace(t.Context(), current.Item))(t)
	})
}

func TestAMissingRowOfTheSecondaryIsNoAnswerWhileThePrimaryIsUp(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.replicate()
		late := w.insert(t, 1, 1)[0]
		w.reset()
		busy := storagetest.On("Table.Get").Where(func(q storagetest.Request) bool { return q.Region == storagetest.Primary })
		if err := w.account.Fault(busy.Times(2).Status(503, "ServerBusy")); err != nil {
			t.Fatal(err)
		}
		item := harness.Must(w.table.Get(t.Context(), late.key()))(t)
		if item.Region != regions.Primary {
			t.Errorf("read from the %s", item.Region)
		}
		w.wantRequests(t, 3, 2, 1)
		w.account.ClearFaults()
		if err := w.account.Fault(busy.Times(storagetest.Forever).Status(503, "ServerBusy")); err != nil {
			t.Fatal(err)
		}
		_, err := w.table.Get(t.Context(), late.key())
		harness.WantError(t, err, patterns.ErrThrottled)
		w.account.ClearFaults()
		w.take(func(region regions.Region) time.Duration {
			if region == regions.Primary {
				return 5 * time.Second
			}
			return 0
		})
		item = harness.Must(w.table.Get(t.Context(), late.key()))(t) // hedged
		if item.Region != regions.Primary {
			t.Errorf("read from the %s", item.Region)
		}
	})
}

func TestTheAddressOfATableIsThatOfThePrimary(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		rows := harness.Must(patterns.NewTable[row](w.service.NewClient("Rows"), nil))(t)
		harness.Must(harness.Must(regions.NewTable(rows))(t).Get(t.Context(), r.key()))(t)
		if url, ok := rows.URL(); !ok || url != storagetest.TablesURL+"/Rows" {
			t.Errorf("the address is %q", url)
		}
	})
}
