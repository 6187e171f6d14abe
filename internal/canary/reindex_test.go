package canary_test

import (
	"context"
	"io"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// damage stores an entity without its copies.
func damage(e *env) []any {
	return results(failure(e.stamped.Upsert(e.t.Context(), good("damaged"), patterns.Replace)))
}

// reportErrors returns the errors of a run. Findings and failures have keys in fields of their own, for the program.
func reportErrors(r reindex.Report, err error) []any {
	found := []any{err}
	for _, f := range r.Failures {
		found = append(found, f.Err)
	}
	return found
}

var reindexCalls = []call{
	{"reindex.Verify", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			for _, err := range reindex.Verify(e.t.Context(), s, &reindex.Options{Views: []string{"missing"}}) {
				return err
			}
			return nil
		})
	}},
	{"reindex.Repair", func(e *env) []any {
		found := append(damage(e), reportErrors(reindex.Repair(e.t.Context(), e.newStore(true, e.outbox), nil))...)
		found = append(found, reportErrors(reindex.Repair(e.t.Context(), e.newStore(false, quotingQueue{e.outbox}), nil))...)
		return append(found, reportErrors(reindex.Repair(e.t.Context(), e.store, &reindex.Options{Cursor: []byte(bird)}))...)
	}},
	{"reindex.Backfill", func(e *env) []any {
		found := append(damage(e), reportErrors(reindex.Backfill(e.t.Context(), e.newStore(false, quotingQueue{e.outbox}), "remote", nil))...)
		return append(found, reportErrors(reindex.Backfill(e.t.Context(), e.store, "missing", nil))...)
	}},
	{"reindex.Survey", func(e *env) []any {
		_, err := reindex.Survey(e.t.Context(), e.service.NewClient(bird), nil)
		return results(err, failure(reindex.Survey(e.t.Context(), e.stamped.Client(), &reindex.SurveyOptions{Rows: -1})))
	}},
	{"reindex.SurveyReport.WriteGo", func(e *env) []any {
		r, err := reindex.Survey(e.t.Context(), e.stamped.Client(), nil)
		if err != nil {
			return results(err)
		}
		return results(r.WriteGo(io.Discard, bird+" "))
	}},
	runsCall("NewRuns", func(e *env, _ *reindex.Runs) error {
		_, err := reindex.NewRuns[person](e.store, e.service.NewClient(bird), nil)
		return err
	}),
	runsCall("Runs.Create", func(e *env, r *reindex.Runs) error { return r.Create(e.t.Context()) }),
	runsCall("Runs.Verify", func(e *env, r *reindex.Runs) error { return r.Verify(e.t.Context(), bird+"2", nil) }),
	runsCall("Runs.Repair", func(e *env, r *reindex.Runs) error { return r.Repair(e.t.Context(), bird+"/", nil) }),
	runsCall("Runs.Backfill", func(e *env, r *reindex.Runs) error { return r.Backfill(e.t.Context(), bird+"3", "missing", nil) }),
	runsCall("Runs.Do", func(e *env, r *reindex.Runs) error { return r.Do(e.t.Context(), reindex.Job{Run: bird, Stage: 1}) }),
	runsCall("Runs.Resume", func(e *env, r *reindex.Runs) error { return r.Resume(e.t.Context(), bird) }),
	runsCall("Runs.Status", func(e *env, r *reindex.Runs) error { return failure(r.Status(e.t.Context(), bird+"missing")) }),
	runsCall("Runs.Findings", func(e *env, r *reindex.Runs) error {
		for _, err := range r.Findings(e.t.Context(), bird) {
			return err
		}
		return nil
	}),
}

// runsCall is a call on runs whose state is in the main table of the environment.
func runsCall(name string, do func(e *env, r *reindex.Runs) error) call {
	return call{"reindex." + name, func(e *env) []any {
		r, err := reindex.NewRuns(e.store, e.service.NewClient("runs"), func(context.Context, reindex.Job) error { return nil })
		if err != nil {
			return results(err)
		}
		found := results(r.Create(e.t.Context()), r.Verify(e.t.Context(), bird, nil))
		return append(found, do(e, r))
	}}
}
