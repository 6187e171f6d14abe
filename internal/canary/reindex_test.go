package canary_test

import (
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
}
