package canary_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// quotingQueue is an outbox whose errors quote what they are about.
type quotingQueue struct{ *harness.OutboxQueue }

func (q quotingQueue) Put(_ context.Context, m patterns.OutboxMessage, _ time.Duration) (patterns.Receipt, error) {
	return patterns.Receipt{}, fmt.Errorf("no room for %s", m.Partition)
}

// views returns a local unique view, a remote one, and, if asked for, one that quotes the value in its error.
func views(e *env, broken bool) []patterns.View[person] {
	name := func(p *person) (string, bool) { return p.Name, true }
	local, err := secondaryindex.Intra("local", name, nil)
	must(e.t, err)
	remote, err := secondaryindex.Inter("remote", nil, name, nil)
	must(e.t, err)
	found := []patterns.View[person]{local, remote}
	if broken {
		found = append(found, patterns.NewView("broken", patterns.Shape{}, func(p *person) ([]patterns.DerivedRow, error) {
			return nil, fmt.Errorf("no row for %s", p.Name)
		}))
	}
	return found
}

func (e *env) newStore(broken bool, queue patterns.OutboxQueue) *patterns.Store[person] {
	s, err := patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: views(e, broken), Outbox: queue,
		OnPending: func(_ context.Context, _ keys.Key, err error) { e.pending = append(e.pending, err) }})
	must(e.t, err)
	return s
}

func (e *env) prepareStore() {
	e.outbox = new(harness.OutboxQueue)
	e.store = e.newStore(false, e.outbox)
	_, err := e.store.Insert(e.t.Context(), good("stored"))
	must(e.t, err)
}

// stores calls do on stores that fail in different ways.
func stores(e *env, do func(*patterns.Store[person]) error) []any {
	found := results(do(e.store), do(e.newStore(true, e.outbox)), do(e.newStore(false, quotingQueue{e.outbox})))
	for _, err := range e.pending {
		found = append(found, err)
	}
	e.pending = nil
	return found
}

var storedKey = keys.Key{Partition: bird, Row: "stored"}

var storeCalls = []call{
	{"patterns.NewStore", func(e *env) []any {
		twice := append(views(e, false), views(e, false)...)
		return results(failure(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: twice})), failure(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: views(e, false)})))
	}},
	{"patterns.Store.Get", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(e.store.Get(e.t.Context(), k)) })
	}},
	{"patterns.Store.Insert", func(e *env) []any {
		found := each(append(bad(), good("duplicate"), good("stored")), func(p *person) error { return failure(e.store.Insert(e.t.Context(), p)) })
		return append(found, stores(e, func(s *patterns.Store[person]) error { return failure(s.Insert(e.t.Context(), good("stored2"))) })...)
	}},
	{"patterns.Store.Put", func(e *env) []any {
		found := each(bad(), func(p *person) error { return failure(e.store.Put(e.t.Context(), p)) })
		return append(found, stores(e, func(s *patterns.Store[person]) error { return failure(s.Put(e.t.Context(), good("stored3"))) })...)
	}},
	{"patterns.Store.PutItem", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return failure(e.store.PutItem(e.t.Context(), i, good("stored"))) })
	}},
	{"patterns.Store.Update", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			return failure(s.Update(e.t.Context(), storedKey, func(p *person) error { p.Name += digits; return nil }))
		})
	}},
	{"patterns.Store.UpdateItem", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error {
			return failure(e.store.UpdateItem(e.t.Context(), i, func(p *person) error { p.Name += digits; return nil }))
		})
	}},
	{"patterns.Store.Delete", func(e *env) []any {
		return append(each(someKeys[1:2], func(k keys.Key) error { return e.store.Delete(e.t.Context(), k) }),
			stores(e, func(s *patterns.Store[person]) error { return s.Delete(e.t.Context(), storedKey) })...)
	}},
	{"patterns.Store.DeleteItem", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return e.store.DeleteItem(e.t.Context(), i) })
	}},
	{"patterns.StoreBatch.Commit", func(e *env) []any {
		commit := func(b *patterns.StoreBatch[person]) error { return failure(b.Commit(e.t.Context())) }
		found := each(bad(), func(p *person) error { return commit(e.store.Batch().Insert(good("batch")).Put(p)) })
		found = append(found, each(items(e), func(i patterns.Item[person]) error {
			return commit(e.store.Batch().Insert(good("batch")).DeleteItem(i))
		})...)
		found = append(found, results(commit(e.store.Batch().Insert(good("batch")).Insert(good("duplicate"))), commit(e.store.Batch().Insert(good("a")).Insert(good("b"))))...)
		return append(found, stores(e, func(s *patterns.Store[person]) error {
			return commit(s.Batch().Update(storedKey, func(p *person) error { p.Name += digits; return nil }).Delete(theKey))
		})...)
	}},
	{"patterns.Store.Bulk", func(e *env) []any {
		var ops []patterns.StoreOp[person]
		for _, p := range append(bad(), good("duplicate"), good("stored"), good("bulk")) {
			ops = append(ops, patterns.InsertEntity(p))
		}
		var found []any
		report, err := e.store.Bulk(e.t.Context(), slices.Values(ops), &patterns.BulkOptions{Progress: func(p patterns.BulkProgress) { found = append(found, p) }})
		for _, f := range report.Failures { // a failure has the key in a field of its own, for the program
			found = append(found, f.Err)
		}
		return append(found, err)
	}},
	{"patterns.Store.Handle", func(e *env) []any {
		return results(failure(e.store.Handle(e.t.Context(), patterns.OutboxMessage{Partition: bird, ID: bird})), failure(e.store.Handle(e.t.Context(), patterns.OutboxMessage{Partition: badKey.Row, ID: bird})))
	}},
	{"patterns.Store.Query", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			return errors.Join(failures(s.Query(e.t.Context(), byName, nil)), failures(s.Query(e.t.Context(), badQuery, nil)))
		})
	}},
	{"patterns.Store.Page", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			return errors.Join(failure(s.Page(e.t.Context(), byName, cursor, nil)), failure(s.Page(e.t.Context(), badQuery, "", nil)))
		})
	}},
	{"patterns.Store.Pages", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			return errors.Join(failures(s.Pages(e.t.Context(), byName, cursor, nil)), failures(s.Pages(e.t.Context(), badQuery, "", nil)))
		})
	}},
	{"patterns.Store.Scan", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error {
			return errors.Join(failures(s.Scan(e.t.Context(), byName, cursor, nil)), failures(s.Scan(e.t.Context(), badQuery, "", nil)))
		})
	}},
	{"patterns.Store.Create", func(e *env) []any {
		return stores(e, func(s *patterns.Store[person]) error { return s.Create(e.t.Context()) })
	}},
	{"patterns.Store.Repair", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return e.store.Repair(e.t.Context(), k) })
	}},
	{"patterns.Store.ViewStates", func(e *env) []any {
		states, err := e.store.ViewStates(e.t.Context())
		return []any{states, err}
	}},
	{"patterns.Store.SetViewState", func(e *env) []any {
		return results(e.store.SetViewState(e.t.Context(), "missing", patterns.ViewReady), e.store.SetViewState(e.t.Context(), e.store.Views()[0].Name(), bird),
			e.store.SetViewState(e.t.Context(), e.store.Views()[0].Name(), patterns.ViewReady))
	}},
	{"patterns.Store.Explain", func(e *env) []any {
		plan, err := e.store.Explain(patterns.InsertEntity(good("stored")))
		return append(stores(e, func(s *patterns.Store[person]) error {
			return failure(s.Explain(patterns.InsertEntity(good("stored"))))
		}), plan, err)
	}},
	{"patterns.Store.ExplainChange", func(e *env) []any {
		return append(each(bad(), func(p *person) error { return failure(e.store.ExplainChange(nil, p)) }), failure(e.store.ExplainChange(good("a"), good("b"))))
	}},
	{"patterns.Store.Sweep", func(e *env) []any {
		var found []any
		report, err := e.store.Sweep(e.t.Context(), &patterns.SweepOptions{Progress: func(r patterns.SweepReport) {
			for _, f := range r.Failures { // a failure has the key in a field of its own, for the program
				found = append(found, f.Err)
			}
		}})
		for _, f := range report.Failures {
			found = append(found, f.Err)
		}
		return append(found, err)
	}},
	{"denormalize.Into", func(e *env) []any {
		return results(failure(denormalize.Into[person, person]("into", nil, nil)), failure(denormalize.Into("into", func(*person) (keys.Key, chan int, bool) { return theKey, nil, false }, nil)))
	}},
	{"denormalize.Count", func(e *env) []any { return results(failure(denormalize.Count[person]("count", "azp_N", nil, nil))) }},
	{"denormalize.Sum", func(e *env) []any { return results(failure(denormalize.Sum[person]("sum", "azp_N", nil, nil))) }},
}
