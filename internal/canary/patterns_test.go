package canary_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

type family = compoundkey.Family[person, person]

func families(e *env) *family {
	f, err := compoundkey.New(e.people.Client(), func(p *person) compoundkey.ID { return compoundkey.ID{Partition: p.PartitionKey, Parent: p.RowKey} },
		func(p *person) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: p.PartitionKey, Parent: p.RowKey}, p.Name
		}, nil)
	must(e.t, err)
	return f
}

var (
	ids    = []compoundkey.ID{{Partition: bird, Parent: bird}, {Partition: badKey.Row, Parent: bird}, {Partition: bird}, {Partition: bird, Parent: "foreign"}}
	series = []dataseries.ID{{Partition: bird, Series: bird}, {Partition: badKey.Row, Series: bird}, {}}
)

func seriesOf(e *env) *dataseries.Series[int64] {
	s, err := dataseries.New[int64](e.people.Client(), dataseries.HoursOfDay(), nil)
	must(e.t, err)
	return s
}

func registry(e *env) *entitytype.Registry {
	r, err := entitytype.NewRegistry(nil)
	must(e.t, err)
	must(e.t, entitytype.Register(r, "Person", 1, func(p person) (any, error) { return nil, fmt.Errorf("no upcast of %s", p.Name) }))
	return r
}

func entities(e *env) *entitytype.Table {
	t, err := entitytype.New(e.people.Client(), registry(e))
	must(e.t, err)
	return t
}

func periods(e *env) *highvolumedelete.Tables[person] {
	s, err := highvolumedelete.New[person](e.service, "Events", highvolumedelete.Day, nil)
	must(e.t, err)
	return s
}

func logOf(e *env) *logtail.Log[person] {
	l, err := logtail.New[person](e.people.Client(), nil)
	must(e.t, err)
	return l
}

func wide(e *env) *wideentity.Table[person] {
	t, err := wideentity.New[person](e.people.Client(), nil)
	must(e.t, err)
	return t
}

func persons() []*person { return append(bad(), good(bird), good("new")) }

var patternCalls = []call{
	{"compoundkey.New", func(e *env) []any {
		return results(failure(compoundkey.New[person, person](e.people.Client(), nil, nil, nil)))
	}},
	{"compoundkey.Family.ParentKey", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return failure(families(e).ParentKey(id)) })
	}},
	{"compoundkey.Family.ChildKey", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return failure(families(e).ChildKey(id, "")) })
	}},
	{"compoundkey.Family.Parent", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return failure(families(e).Parent(e.t.Context(), id)) })
	}},
	{"compoundkey.Family.Child", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return failure(families(e).Child(e.t.Context(), id, bird)) })
	}},
	{"compoundkey.Family.Children", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error {
			return failures(families(e).Children(e.t.Context(), id, compoundkey.Span{From: bird}, nil))
		})
	}},
	{"compoundkey.Family.Page", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error {
			return failure(families(e).Page(e.t.Context(), id, compoundkey.Span{}, cursor, nil))
		})
	}},
	{"compoundkey.Family.Pages", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error {
			return failures(families(e).Pages(e.t.Context(), id, compoundkey.Span{}, cursor, nil))
		})
	}},
	{"compoundkey.Family.Read", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return failure(families(e).Read(e.t.Context(), id)) })
	}},
	{"compoundkey.Family.Insert", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(families(e).Insert(e.t.Context(), p, good("other"), nil)) })
	}},
	{"compoundkey.Family.AddChild", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(families(e).AddChild(e.t.Context(), p)) })
	}},
	{"compoundkey.Family.Delete", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error { return families(e).Delete(e.t.Context(), id) })
	}},
	{"compoundkey.Family.Update", func(e *env) []any {
		return each(ids, func(id compoundkey.ID) error {
			_, _, err := families(e).Update(e.t.Context(), id, bird, func(p, c *person) error { c.Name = digits; return nil })
			return err
		})
	}},
	{"compoundkey.Transaction.Commit", func(e *env) []any {
		return each(persons(), func(p *person) error {
			return failure(families(e).Transaction().Parent(patterns.InsertOp(p)).Child(patterns.InsertOp(good("c"))).Commit(e.t.Context()))
		})
	}},

	{"dataseries.New", func(e *env) []any {
		return results(failure(dataseries.New[int64](nil, dataseries.Ring{}, nil)),
			failure(dataseries.New[int64](e.people.Client(), dataseries.HoursOfDay(), &dataseries.Options{Property: bird + " "})))
	}},
	{"dataseries.Steps", func(*env) []any { return results(failure(dataseries.Steps(-1, time.Second))) }},
	{"dataseries.Series.Set", func(e *env) []any {
		return append(each(series, func(id dataseries.ID) error { return seriesOf(e).Set(e.t.Context(), id, someTime, 8675309421) }), seriesOf(e).Set(e.t.Context(), series[0], farTime, 1),
			seriesOf(e).Set(e.t.Context(), series[0], someTime.AddDate(-40, 0, 0), 1))
	}},
	{"dataseries.Series.SetAll", func(e *env) []any {
		return each(series, func(id dataseries.ID) error {
			return seriesOf(e).SetAll(e.t.Context(), id, []dataseries.Point[int64]{{Time: someTime, Value: 8675309421}, {Time: farTime, Value: 1}})
		})
	}},
	{"dataseries.Series.Add", func(e *env) []any {
		return append(each(series, func(id dataseries.ID) error { return seriesOf(e).Add(e.t.Context(), id, someTime, 8675309421) }), seriesOf(e).Add(e.t.Context(), series[0], someTime, 1<<63-1))
	}},
	{"dataseries.Series.Update", func(e *env) []any {
		return each(series, func(id dataseries.ID) error {
			return seriesOf(e).Update(e.t.Context(), id, someTime, func(v int64) (int64, error) { return v + 1, nil })
		})
	}},
	{"dataseries.Series.Read", func(e *env) []any {
		return each(series, func(id dataseries.ID) error { return failure(seriesOf(e).Read(e.t.Context(), id, someTime)) })
	}},
	{"dataseries.Series.Last", func(e *env) []any {
		return each(series, func(id dataseries.ID) error { return failure(seriesOf(e).Last(e.t.Context(), id, someTime)) })
	}},

	{"entitytype.NewRegistry", func(*env) []any {
		return results(failure(entitytype.NewRegistry(&entitytype.Options{Property: "a b"})))
	}},
	{"entitytype.Register", func(e *env) []any {
		return results(entitytype.Register[person](registry(e), "Person", 1, nil), entitytype.Register[int](registry(e), "a b", 0, nil))
	}},
	{"entitytype.New", func(e *env) []any {
		return results(failure(entitytype.New(nil, registry(e))), failure(entitytype.New(e.people.Client(), nil)))
	}},
	{"entitytype.Table.Get", func(e *env) []any {
		_, _ = entities(e).Insert(e.t.Context(), keys.Key{Partition: bird, Row: "entity"}, good("entity"))
		return each(append(someKeys, keys.Key{Partition: bird, Row: "entity"}), func(k keys.Key) error { return failure(entities(e).Get(e.t.Context(), k)) })
	}},
	{"entitytype.Table.Query", func(e *env) []any {
		return results(failures(entities(e).Query(e.t.Context(), byName, nil)), failures(entities(e).Query(e.t.Context(), badQuery, nil)))
	}},
	{"entitytype.Table.Page", func(e *env) []any {
		return results(failure(entities(e).Page(e.t.Context(), byName, "", nil)), failure(entities(e).Page(e.t.Context(), byName, cursor, nil)))
	}},
	{"entitytype.Table.Pages", func(e *env) []any {
		return results(failures(entities(e).Pages(e.t.Context(), byName, "", nil)), failures(entities(e).Pages(e.t.Context(), byName, cursor, nil)))
	}},
	{"entitytype.Table.Insert", func(e *env) []any {
		return append(each(persons(), func(p *person) error { return failure(entities(e).Insert(e.t.Context(), theKey, p)) }),
			failure(entities(e).Insert(e.t.Context(), badKey, good(bird))), failure(entities(e).Insert(e.t.Context(), theKey, bird)))
	}},
	{"entitytype.Table.Upsert", func(e *env) []any {
		return each(bad(), func(p *person) error { return failure(entities(e).Upsert(e.t.Context(), theKey, p, patterns.Merge)) })
	}},
	{"entitytype.Table.Replace", func(e *env) []any {
		return each(bad(), func(p *person) error { return failure(entities(e).Replace(e.t.Context(), entity(p))) })
	}},
	{"entitytype.Table.Merge", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(entities(e).Merge(e.t.Context(), entity(p))) })
	}},
	{"entitytype.Table.Delete", func(e *env) []any {
		return results(entities(e).Delete(e.t.Context(), theKey, etag), entities(e).Delete(e.t.Context(), badKey, badETag))
	}},
	{"entitytype.Table.Update", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error {
			return failure(entities(e).Update(e.t.Context(), k, func(entitytype.Entity) error { return nil }))
		})
	}},
	{"entitytype.Transaction.Commit", func(e *env) []any {
		return each(persons(), func(p *person) error {
			return failure(entities(e).Transaction().Insert(theKey, p).Delete(badKey, badETag).Commit(e.t.Context()))
		})
	}},

	{"highvolumedelete.New", func(e *env) []any {
		type untimed struct{ PartitionKey, RowKey string }
		return results(failure(highvolumedelete.New[person](e.service, "9"+bird, highvolumedelete.Day, nil)), failure(highvolumedelete.New[untimed](e.service, "Events", highvolumedelete.Day, nil)))
	}},
	{"highvolumedelete.Tables.Name", func(e *env) []any { return results(failure(periods(e).Name(farTime))) }},
	{"highvolumedelete.Tables.Table", func(e *env) []any { return results(failure(periods(e).Table(farTime))) }},
	{"highvolumedelete.Tables.Open", func(e *env) []any {
		return results(failure(periods(e).Open(e.t.Context(), farTime)), failure(periods(e).Open(e.t.Context(), someTime)))
	}},
	{"highvolumedelete.Tables.Prepare", func(e *env) []any { return results(periods(e).Prepare(e.t.Context(), 1)) }},
	{"highvolumedelete.Tables.Insert", func(e *env) []any {
		return each(append(persons(), good(bird)), func(p *person) error { return failure(periods(e).Insert(e.t.Context(), p)) })
	}},
	{"highvolumedelete.Tables.Upsert", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(periods(e).Upsert(e.t.Context(), p, patterns.Replace)) })
	}},
	{"highvolumedelete.Tables.Bulk", func(e *env) []any {
		var values []person
		for _, p := range persons() {
			if p != nil {
				values = append(values, *p)
			}
		}
		report, err := periods(e).Bulk(e.t.Context(), slices.Values(values), patterns.InsertOp, nil)
		found := results(err)
		for _, f := range report.Failures {
			found = append(found, f.Err)
		}
		return found
	}},
	{"highvolumedelete.Tables.Get", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(periods(e).Get(e.t.Context(), someTime, k)) })
	}},
	{"highvolumedelete.Tables.Query", func(e *env) []any {
		return results(failures(periods(e).Query(e.t.Context(), someTime, farTime, byName, nil)), failures(periods(e).Query(e.t.Context(), someTime, someTime.AddDate(0, 0, 2), badQuery, nil)),
			failures(periods(e).Query(e.t.Context(), someTime, someTime.AddDate(0, 0, 2), byName, nil)))
	}},
	{"highvolumedelete.Tables.Page", func(e *env) []any {
		return results(failure(periods(e).Page(e.t.Context(), someTime, someTime.AddDate(0, 0, 2), byName, cursor, nil)))
	}},
	{"highvolumedelete.Tables.Pages", func(e *env) []any {
		return results(failures(periods(e).Pages(e.t.Context(), someTime, someTime.AddDate(0, 0, 2), byName, cursor, nil)))
	}},
	{"highvolumedelete.Tables.List", func(e *env) []any { return results(failure(periods(e).List(e.t.Context(), someTime, farTime))) }},
	{"highvolumedelete.Tables.DropBefore", func(e *env) []any {
		report, err := periods(e).DropBefore(e.t.Context(), someTime.AddDate(0, 0, -1), nil)
		return results(report, err)
	}},
	{"patterns.Table.DeleteWhere", func(e *env) []any {
		progress, err := e.people.DeleteWhere(e.t.Context(), query.And(byName, query.RowKey.Eq(digits)), nil)
		return results(progress, err, failure(e.people.DeleteWhere(e.t.Context(), badQuery, nil)))
	}},

	{"logtail.New", func(e *env) []any {
		return results(failure(logtail.New[person](nil, nil)), failure(logtail.New[chan int](e.people.Client(), nil)))
	}},
	{"logtail.Log.Append", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(logOf(e).Append(e.t.Context(), bird+"/", p)) })
	}},
	{"logtail.Log.AppendAll", func(e *env) []any {
		return results(failure(logOf(e).AppendAll(e.t.Context(), bird, []person{*good("a"), *bad()[1], *bad()[3]})))
	}},
	{"logtail.Log.Retry", func(e *env) []any {
		return results(logOf(e).Retry(e.t.Context(), logtail.Entry[person]{Item: patterns.Item[person]{Value: *good("a"), Key: theKey}}))
	}},
	{"logtail.Log.Page", func(e *env) []any {
		return results(failure(logOf(e).Page(e.t.Context(), bird, someTime, someTime.AddDate(1, 0, 0), cursor, nil)))
	}},
	{"logtail.Log.Pages", func(e *env) []any {
		return results(failures(logOf(e).Pages(e.t.Context(), bird, someTime, someTime.AddDate(1, 0, 0), cursor, nil)))
	}},
	{"logtail.Log.Tail", func(e *env) []any {
		return results(failures(logOf(e).Tail(e.t.Context(), bird, 3)), failures(logOf(e).Tail(e.t.Context(), badKey.Row, 3)))
	}},
	{"logtail.Log.Range", func(e *env) []any { return results(failures(logOf(e).Range(e.t.Context(), bird, someTime, farTime))) }},
	{"logtail.Log.Since", func(e *env) []any {
		return results(failures(logOf(e).Since(e.t.Context(), bird, farTime)), failures(logOf(e).Since(e.t.Context(), bird, someTime)))
	}},

	{"wideentity.New", func(e *env) []any {
		return results(failure(wideentity.New[person](nil, nil)), failure(wideentity.New[chan int](e.people.Client(), nil)))
	}},
	{"wideentity.Table.Create", func(e *env) []any { return results(wide(e).Create(e.t.Context())) }},
	{"wideentity.Table.Insert", func(e *env) []any {
		return append(each(persons(), func(p *person) error { return failure(wide(e).Insert(e.t.Context(), theKey, p)) }), failure(wide(e).Insert(e.t.Context(), badKey, good(bird))))
	}},
	{"wideentity.Table.Put", func(e *env) []any {
		return each(persons(), func(p *person) error { return failure(wide(e).Put(e.t.Context(), theKey, p)) })
	}},
	{"wideentity.Table.Get", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(wide(e).Get(e.t.Context(), k)) })
	}},
	{"wideentity.Table.Read", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(wide(e).Read(e.t.Context(), k, "Name")) })
	}},
	{"wideentity.Table.Replace", func(e *env) []any {
		return each(bad(), func(p *person) error { return failure(wide(e).Replace(e.t.Context(), wideItem(p))) })
	}},
	{"wideentity.Table.Merge", func(e *env) []any {
		return each(bad(), func(p *person) error { return failure(wide(e).Merge(e.t.Context(), wideItem(p), "Name")) })
	}},
	{"wideentity.Table.Set", func(e *env) []any {
		return each(persons(), func(p *person) error { return wide(e).Set(e.t.Context(), theKey, p, "Name") })
	}},
	{"wideentity.Table.Update", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error {
			return failure(wide(e).Update(e.t.Context(), k, func(p *person) error { p.Name += "\xff"; return nil }))
		})
	}},
	{"wideentity.Table.Delete", func(e *env) []any {
		return results(wide(e).Delete(e.t.Context(), theKey, etag), wide(e).Delete(e.t.Context(), badKey, badETag), wide(e).Delete(e.t.Context(), theKey, ""))
	}},
	{"wideentity.Table.Sweep", func(e *env) []any {
		report, err := wide(e).Sweep(e.t.Context(), nil)
		return results(report, err)
	}},
}

func entity(p *person) entitytype.Entity {
	var e entitytype.Entity
	e.Key, e.ETag, e.Value = theKey, etag, p
	return e
}

func wideItem(p *person) wideentity.Item[person] {
	item := wideentity.Item[person]{Key: theKey, ETag: etag}
	if p != nil {
		item.Value = *p
	}
	return item
}
