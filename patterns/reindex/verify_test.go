package reindex_test

import (
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

func TestACorrectTableHasNoFindingsAndCostsAPageForEachThousandRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n := size(t, 5000)
		w := newWorld(t, b)
		w.fill(t, n, true)
		var last reindex.Report
		began := time.Now()
		for f, err := range reindex.Verify(t.Context(), w.Store, "", &reindex.Options{Report: &last}) {
			assert.NoError(t, err)
			t.Errorf("%v", f)
		}
		t.Logf("%d primaries: %v, %+v", n, time.Since(began), last.Requests)
		rows := 3*n + (n+99)/100 + 1 // the last one names the owner of the view in badges
		if last.Rows != rows || last.Primaries != n || last.Passes != 1 {
			t.Errorf("%+v, want %d rows of %d primaries", last, rows, n)
		}
		if got := w.requests(); got != last.Requests.Total() || float64(got) > 1.1*float64(rows)/1000+3 {
			t.Errorf("%d requests for %d rows, reported %+v", got, rows, last.Requests)
		}
	})
}

func TestMoreDifferencesThanASketchHoldsTakeFurtherPasses(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 300, false) // no row of any view exists
		report := assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{Differences: 100, DryRun: true}))(t)
		if report.Missing != 900 || report.Rows != 301 || report.Primaries != 300 {
			t.Errorf("%+v, want 900 missing rows of 300 primaries", report)
		}
		if most := 4 * 900 / 100; report.Passes < 9 || report.Passes > most {
			t.Errorf("%d passes, want 9 to %d", report.Passes, most)
		}
	})
}

func TestBackfillRemovesTheRowsOfARetiredView(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 120, true)
		for _, v := range w.Views() {
			views := w.Views()
			w.Store = harness.NewStore(t, w.people, &patterns.StoreOptions[person]{Views: views, Retired: []string{v.Name()}, Outbox: w.queue})
			report, _ := w.backfill(t, v.Name(), patterns.ViewRetiring)
			w.wantState(t, v.Name(), "")
			if report.Filled != 120 || report.Failed+report.Undecided > 0 {
				t.Errorf("%s: %+v", v.Name(), report)
			}
			w.Store = w.open(t, slices.DeleteFunc(views, func(o patterns.View[person]) bool { return o.Name() == v.Name() })...)
		}
		if people, badges := w.rows(t, w.people), w.rows(t, w.badges); len(people) != 120 || len(badges) != 0 {
			t.Errorf("%d rows and %d in the other table, want 120 and none", len(people), len(badges))
		}
	})
}

func TestGraceLeavesAPrimaryAloneThatHasJustChanged(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 10, false)
		opts := &reindex.Options{DryRun: true, Grace: time.Minute}
		if r := assert.Must(reindex.Repair(t.Context(), w.Store, "", opts))(t); r.Missing != 0 || r.Undecided != 30 {
			t.Errorf("immediately: %+v", r)
		}
		time.Sleep(2 * time.Minute)
		if r := assert.Must(reindex.Repair(t.Context(), w.Store, "", opts))(t); r.Missing != 30 || r.Undecided != 0 {
			t.Errorf("two minutes later: %+v", r)
		}
	})
}

func TestRequestsPerSecondLimitsARun(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 20, false)
		began := time.Now()
		r := assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{DryRun: true, RequestsPerSecond: 10}))(t)
		sent := r.Requests.Scan + r.Requests.Confirm
		if took := time.Since(began); took < time.Duration(sent-4)*time.Second/10 || took > time.Duration(sent)*time.Second/10 {
			t.Errorf("%d requests in %v", sent, took)
		}
	})
}

func TestACursorOfAnotherRunIsRefusedBeforeTheFirstRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		var cursor string
		assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{Views: []string{"email"}, Checkpoint: func(save func() (string, error)) (err error) {
			cursor, err = save()
			return err
		}}))(t)
		w.requests()
		for _, c := range []string{cursor, cursor[:len(cursor)/2], "{}"} {
			_, err := reindex.Repair(t.Context(), w.Store, c, nil)
			assert.WantError(t, err, patterns.ErrBadCursor)
		}
		assert.Equal(t, w.requests(), 0, "requests")
	})
}

func TestAFindingIsYieldedOnceHoweverManyPassesARunTakes(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 150, true)
		want := w.damage(t, 150, 120)
		checkFindings(t, 0, assert.All(t, reindex.Verify(t.Context(), w.Store, "", &reindex.Options{Differences: 1})), want)
	})
}
