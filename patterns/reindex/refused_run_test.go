package reindex_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestARefusedRunChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account(t)
		p := &harness.Process{Inner: a.Transport()}
		q := &jobQueue{chance: rand.New(rand.NewPCG(1, 1))}
		runs, w := sharedRuns(t, p, new(countedQueue), q)
		assert.NoError(t, runs.Create(t.Context()))
		complete := func() {
			for j, ok := q.take(); ok; j, ok = q.take() {
				assert.NoError(t, runs.Do(t.Context(), j))
				q.remove(j)
			}
		}
		state := func(what, want string) {
			t.Helper()
			for _, s := range assert.Must(w.ViewStates(t.Context()))(t) {
				if s.View == "email" && s.State != want {
					t.Errorf("%s: the state is %q, want %q", what, s.State, want)
				}
			}
		}
		w.fill(t, 30, false)
		assert.NoError(t, runs.Backfill(t.Context(), "1", "email", nil))
		state("begun", patterns.ViewBuilding)
		complete()
		state("complete", patterns.ViewReady)

		assert.WantError(t, runs.Backfill(t.Context(), "1", "email", nil), patterns.ErrExists)
		state("the id is in use", patterns.ViewReady)

		retiring := harness.NewStore(t, w.people, &patterns.StoreOptions[person]{Views: w.Views(), Outbox: w.queue, Retired: []string{"email"}})
		assert.NoError(t, retiring.SetViewState(t.Context(), "email", patterns.ViewRetiring))
		assert.WantError(t, runs.Backfill(t.Context(), "2", "email", nil), patterns.ErrConflict)
		assert.WantError(t, assert.ErrorOf(runs.Status(t.Context(), "2")), patterns.ErrNotFound, "the refused run")
		state("the view is being removed", patterns.ViewRetiring)
		if n := len(q.jobs); n > 0 {
			t.Errorf("%d jobs", n)
		}
	})
}

// The process that starts a run dies at any request. Resume brings about what is missing.
func TestABackfillWhoseStartWasInterruptedIsResumed(t *testing.T) {
	for die := 1; ; die++ {
		ended := false
		synctest.Test(t, func(t *testing.T) {
			a := account(t)
			requests := 0
			p := &harness.Process{Inner: a.Transport()}
			p.Decide = func(string, string) (f harness.Fate) {
				requests++
				f.Dies = requests == die
				return f
			}
			q := &jobQueue{chance: rand.New(rand.NewPCG(1, 1))}
			good, w := sharedRuns(t, &harness.Process{Inner: a.Transport()}, new(countedQueue), q)
			assert.NoError(t, good.Create(t.Context()))
			w.fill(t, 10, false)
			runs, _ := sharedRuns(t, p, new(countedQueue), q)
			err := runs.Backfill(t.Context(), "1", "email", nil)
			if ended = !p.Dead(); ended {
				assert.NoError(t, err)
			} else if _, err := good.Status(t.Context(), "1"); err != nil {
				assert.NoError(t, good.Backfill(t.Context(), "1", "email", nil))
			} else {
				assert.NoError(t, good.Resume(t.Context(), "1"))
			}
			recorded := false
			for j, ok := q.take(); ok; j, ok = q.take() {
				for _, s := range assert.Must(w.ViewStates(t.Context()))(t) {
					recorded = recorded || s.View == "email" && s.State == patterns.ViewBuilding
				}
				if !recorded {
					t.Errorf("killed at request %d: a job begins before the view is building", die)
				}
				assert.NoError(t, good.Do(t.Context(), j))
				q.remove(j)
			}
			for _, s := range assert.Must(w.ViewStates(t.Context()))(t) {
				if s.View == "email" && s.State != patterns.ViewReady {
					t.Errorf("killed at request %d: the state is %q", die, s.State)
				}
			}
		})
		if ended {
			return
		}
	}
}
