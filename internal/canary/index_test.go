package canary_test

import (
	"iter"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

func nameOf(p *person) (string, bool) { return p.Name, true }

// indexOf returns the reader of a unique index of the store.
func indexOf(e *env) *secondaryindex.Reader[person] {
	r, err := e.store.Views()[0].(*secondaryindex.Index[person]).On(e.store)
	must(e.t, err)
	return r
}

// lists returns a list in the table and one in a blob, with their store.
func lists(e *env) []*indexentity.Reader[person] {
	local, err := indexentity.SamePartition("list", nameOf, nil)
	must(e.t, err)
	inBlob, err := indexentity.InBlob("blob", e.bin, nameOf, nil)
	must(e.t, err)
	store, err := patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: []patterns.View[person]{local, inBlob}, Outbox: e.outbox})
	must(e.t, err)
	_, _ = store.Insert(e.t.Context(), good("listed"))
	_ = e.outbox.Work(e.t.Context(), store.Handle)
	first, err := local.On(store)
	must(e.t, err)
	second, err := inBlob.On(store)
	must(e.t, err)
	return []*indexentity.Reader[person]{first, second}
}

var values = []string{bird, bird + "/\x01", repeated(2000), bird + "\xff", ""}

var indexCalls = []call{
	{"secondaryindex.Intra", func(*env) []any {
		return results(failure(secondaryindex.Intra(bird+"/", nameOf, nil)), failure(secondaryindex.Intra[person]("a", nil, nil)))
	}},
	{"secondaryindex.Inter", func(*env) []any { return results(failure(secondaryindex.Inter(bird+"/", nil, nameOf, nil))) }},
	{"secondaryindex.Index.Rows", func(e *env) []any {
		return each(bad()[:6], func(p *person) error { return failure(e.store.Views()[0].Rows(p)) })
	}},
	{"secondaryindex.Index.On", func(e *env) []any {
		other, err := secondaryindex.Intra("other", nameOf, nil)
		must(e.t, err)
		return results(failure(other.On(e.store)), failure(other.On(nil)))
	}},
	{"secondaryindex.Reader.Get", func(e *env) []any {
		return each(values, func(v string) error { return failure(indexOf(e).Get(e.t.Context(), bird, v)) })
	}},
	{"secondaryindex.Reader.GetFresh", func(e *env) []any {
		return each(values, func(v string) error {
			_, _, err := indexOf(e).GetFresh(e.t.Context(), bird, v, nil)
			return err
		})
	}},
	{"secondaryindex.Reader.Query", func(e *env) []any {
		return each(values, func(v string) error {
			return failures(indexOf(e).Query(e.t.Context(), bird, secondaryindex.Range(v, digits), nil))
		})
	}},
	{"secondaryindex.Reader.Page", func(e *env) []any {
		return each(values, func(v string) error {
			return failure(indexOf(e).Page(e.t.Context(), bird, secondaryindex.Prefix(v), cursor, nil))
		})
	}},
	{"secondaryindex.Reader.Pages", func(e *env) []any {
		return each(values, func(v string) error {
			return failures(indexOf(e).Pages(e.t.Context(), bird, secondaryindex.Prefix(v), cursor, nil))
		})
	}},
	{"secondaryindex.Reader.Check", func(e *env) []any {
		return results(failure(indexOf(e).Check(e.t.Context(), secondaryindex.Entry[person]{}, nil)))
	}},
	{"secondaryindex.Reader.CheckAll", func(e *env) []any {
		var entries iter.Seq2[secondaryindex.Entry[person], error] = func(yield func(secondaryindex.Entry[person], error) bool) {
			yield(secondaryindex.Entry[person]{}, nil)
		}
		return results(failures(indexOf(e).CheckAll(e.t.Context(), entries, nil)))
	}},

	{"indexentity.SamePartition", func(*env) []any { return results(failure(indexentity.SamePartition(bird+"/", nameOf, nil))) }},
	{"indexentity.OtherPartition", func(*env) []any { return results(failure(indexentity.OtherPartition(bird+"/", nil, nameOf, nil))) }},
	{"indexentity.InBlob", func(e *env) []any {
		return results(failure(indexentity.InBlob(bird+"/", e.bin, nameOf, nil)), failure(indexentity.InBlob("a", nil, nameOf, nil)))
	}},
	{"indexentity.Index.Rows", func(e *env) []any {
		list, err := indexentity.SamePartition("list", nameOf, nil)
		must(e.t, err)
		return each(bad()[:6], func(p *person) error { return failure(list.Rows(p)) })
	}},
	{"indexentity.Index.On", func(e *env) []any {
		list, err := indexentity.SamePartition("list", nameOf, nil)
		must(e.t, err)
		return results(failure(list.On(e.store)), failure(list.On(nil)))
	}},
	{"indexentity.Reader.Get", func(e *env) []any {
		var found []any
		for _, r := range lists(e) {
			found = append(found, each(values, func(v string) error { return failure(r.Get(e.t.Context(), bird, v)) })...)
		}
		return found
	}},
	{"indexentity.Reader.Query", func(e *env) []any {
		var found []any
		for _, r := range lists(e) {
			found = append(found, each(values, func(v string) error { return failures(r.Query(e.t.Context(), bird, v, nil)) })...)
		}
		return found
	}},
	{"indexentity.Reader.Page", func(e *env) []any {
		var found []any
		for _, r := range lists(e) {
			found = append(found, each(values, func(v string) error { return failure(r.Page(e.t.Context(), bird, v, cursor, nil)) })...)
		}
		return found
	}},
	{"indexentity.Reader.Pages", func(e *env) []any {
		var found []any
		for _, r := range lists(e) {
			found = append(found, each(values, func(v string) error { return failures(r.Pages(e.t.Context(), bird, v, cursor, nil)) })...)
		}
		return found
	}},
}
