package canary_test

import (
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// each calls do with every value that can be refused.
func each[V any](values []V, do func(V) error) (found []any) {
	for _, v := range values {
		found = append(found, do(v))
	}
	return found
}

var someKeys = append(foreignRows(), theKey, badKey, keys.Key{Partition: bird, Row: "missing"})

var coreCalls = []call{
	{"patterns.NewTable", func(e *env) []any {
		type noKey struct{ Name string }
		return results(failure(patterns.NewTable[noKey](e.people.Client(), nil)), failure(patterns.NewTable[chan int](e.people.Client(), nil)), failure(patterns.NewTable[person](nil, nil)))
	}},
	{"patterns.Table.Get", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(e.people.Get(e.t.Context(), k)) })
	}},
	{"patterns.Table.Key", func(e *env) []any {
		return append(each(bad(), func(p *person) error { return failure(e.people.Key(p)) }), failure(e.keyed.Key(good(bird))))
	}},
	{"patterns.Table.Query", func(e *env) []any {
		return results(failures(e.people.Query(e.t.Context(), byName, nil)), failures(e.people.Query(e.t.Context(), badQuery, nil)),
			failures(e.people.Query(e.t.Context(), query.Prop("Name").Eq(bird), nil)))
	}},
	{"patterns.Table.Page", func(e *env) []any {
		return results(failure(e.people.Page(e.t.Context(), byName, "", nil)), failure(e.people.Page(e.t.Context(), byName, cursor, nil)), failure(e.people.Page(e.t.Context(), badQuery, "", nil)))
	}},
	{"patterns.Table.Pages", func(e *env) []any {
		return results(failures(e.people.Pages(e.t.Context(), byName, "", nil)), failures(e.people.Pages(e.t.Context(), byName, cursor, nil)), failures(e.people.Pages(e.t.Context(), badQuery, "", nil)))
	}},
	{"patterns.Table.Scan", func(e *env) []any {
		return results(failures(e.people.Scan(e.t.Context(), byName, "", nil)), failures(e.people.Scan(e.t.Context(), byName, cursor, nil)), failures(e.people.Scan(e.t.Context(), badQuery, "", nil)))
	}},
	{"patterns.Table.Explain", func(e *env) []any {
		return results(failure(e.people.Explain(badQuery, nil)), failure(e.people.Explain(query.Prop("Name").Eq(bird), nil)))
	}},
	{"patterns.Project", func(e *env) []any {
		type wrong struct{ C chan int }
		return results(failure(patterns.Project[wrong](e.people)))
	}},
	{"patterns.Reader.Get", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error { return failure(reader(e).Get(e.t.Context(), k)) })
	}},
	{"patterns.Reader.Query", func(e *env) []any {
		return results(failures(reader(e).Query(e.t.Context(), byName, nil)), failures(reader(e).Query(e.t.Context(), badQuery, nil)))
	}},
	{"patterns.Reader.Page", func(e *env) []any {
		return results(failure(reader(e).Page(e.t.Context(), byName, "", nil)), failure(reader(e).Page(e.t.Context(), byName, cursor, nil)))
	}},
	{"patterns.Reader.Pages", func(e *env) []any {
		return results(failures(reader(e).Pages(e.t.Context(), byName, "", nil)), failures(reader(e).Pages(e.t.Context(), byName, cursor, nil)))
	}},
	{"patterns.Table.Segments", func(e *env) []any {
		return results(failure(e.people.Segments(e.t.Context(), byName, 4, nil)), failure(e.people.Segments(e.t.Context(), badQuery, 4, nil)))
	}},
	{"patterns.Reader.Segments", func(e *env) []any {
		return results(failure(reader(e).Segments(e.t.Context(), byName, 4, nil)), failure(reader(e).Segments(e.t.Context(), badQuery, 4, nil)))
	}},
	{"patterns.Reader.Scan", func(e *env) []any {
		return results(failures(reader(e).Scan(e.t.Context(), byName, "", nil)), failures(reader(e).Scan(e.t.Context(), byName, cursor, nil)))
	}},
	{"patterns.Decode", func(e *env) []any {
		rows, err := patterns.NewTable(e.people.Client(), &patterns.TableOptions[patterns.Row]{Keyless: true})
		must(e.t, err)
		return each(someKeys, func(k keys.Key) error {
			row, err := rows.Get(e.t.Context(), k)
			if err != nil {
				return err
			}
			return failure(patterns.Decode[person](row))
		})
	}},
	{"patterns.EncodeRow", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return failure(patterns.EncodeRow(i)) })
	}},
	{"patterns.EncodeJSON", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return failure(patterns.EncodeJSON(i)) })
	}},
	{"patterns.DecodeJSON", func(e *env) []any {
		return each([]string{bird, `{"` + bird, `{"PartitionKey":"` + bird + `","RowKey":8675309421}`,
			`{"PartitionKey":"` + bird + `","RowKey":"` + bird + `","Name":8675309421}`, `{"PartitionKey":"` + bird + `","RowKey":"","Other":8675309421}`},
			func(text string) error { return failure(patterns.DecodeJSON[person]([]byte(text))) })
	}},
	{"patterns.Discriminate", func(e *env) []any {
		rows, err := patterns.NewTable[patterns.Row](e.people.Client(), nil)
		must(e.t, err)
		_, unset := patterns.Discriminate(rows, patterns.Discriminator{Property: bird})
		r, err := patterns.Discriminate(rows, patterns.Discriminator{Property: bird, Type: func(_, _ []byte, _ bool) any { return new(person) }})
		must(e.t, err)
		return append(each(someKeys, func(k keys.Key) error { return failure(r.Get(e.t.Context(), k)) }), unset, failures(r.Query(e.t.Context(), byName, nil)))
	}},
	{"patterns.Table.Insert", func(e *env) []any {
		return append(each(append(bad(), good(bird), good("i")), func(p *person) error { return failure(e.people.Insert(e.t.Context(), p)) }),
			failure(e.stamped.Insert(e.t.Context(), good(bird))), failure(e.stamped.Insert(e.t.Context(), good("j"))), failure(e.keyed.Insert(e.t.Context(), good(bird))))
	}},
	{"patterns.Table.Upsert", func(e *env) []any {
		return each(append(bad(), good("u")), func(p *person) error { return failure(e.people.Upsert(e.t.Context(), p, patterns.Replace)) })
	}},
	{"patterns.Table.Replace", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return failure(e.people.Replace(e.t.Context(), i)) })
	}},
	{"patterns.Table.Merge", func(e *env) []any {
		return each(items(e), func(i patterns.Item[person]) error { return failure(e.people.Merge(e.t.Context(), i)) })
	}},
	{"patterns.Table.Delete", func(e *env) []any {
		return each([]azcore.ETag{etag, badETag, azcore.ETagAny, ""}, func(tag azcore.ETag) error {
			return failure(0, e.people.Delete(e.t.Context(), keys.Key{Partition: bird, Row: "i"}, tag))
		})
	}},
	{"patterns.Table.Update", func(e *env) []any {
		return each(someKeys, func(k keys.Key) error {
			return failure(e.people.Update(e.t.Context(), k, func(p *person) error { p.Name += "\xff"; return nil }))
		})
	}},
	{"patterns.Table.Do", func(e *env) []any {
		return each([]patterns.Op[person]{patterns.InsertOp(good(bird)).At(badKey), patterns.InsertOp(good(bird)).With("Name", bird),
			patterns.UpsertOp(good("d"), patterns.Mode(9)), patterns.DeleteOp[person](theKey, badETag)},
			func(op patterns.Op[person]) error { return failure(e.people.Do(e.t.Context(), op)) })
	}},
	{"patterns.Table.Bulk", func(e *env) []any {
		var ops []patterns.Op[person]
		for _, p := range append(bad(), good(bird), good("b")) {
			ops = append(ops, patterns.InsertOp(p))
		}
		var found []any
		report, err := e.people.Bulk(e.t.Context(), slices.Values(ops), &patterns.BulkOptions{Progress: func(p patterns.BulkProgress) { found = append(found, p) }})
		for _, f := range report.Failures { // a failure has the key in a field of its own, for the program
			found = append(found, f.Err)
		}
		return append(found, err)
	}},
	{"patterns.Batch.Commit", func(e *env) []any {
		commit := func(b *patterns.Batch[person]) error { return failure(b.Commit(e.t.Context())) }
		return results(commit(e.people.Batch().Insert(good("x")).Insert(good(bird))), commit(e.people.Batch().Insert(good("x")).Insert(good("x"))),
			commit(e.people.Batch().Insert(bad()[1])), commit(e.people.Batch().Delete(theKey, etag)), commit(e.people.Batch().Delete(badKey, etag)),
			commit(e.people.Batch().Insert(good("x")).Insert(&person{PartitionKey: digits, RowKey: bird})), commit(e.stamped.Batch().Insert(good(bird)).Insert(good("y"))),
			commit(patterns.AddTo(e.people.Batch(), e.keyed, patterns.InsertOp(good(bird)))))
	}},
	{"patterns.Table.Create", func(e *env) []any { return results(e.people.Create(e.t.Context())) }},
	{"patterns.Table.Drop", func(e *env) []any {
		gone, err := patterns.NewTable[person](e.service.NewClient(bird), nil)
		must(e.t, err)
		return results(gone.Drop(e.t.Context()))
	}},
}

func reader(e *env) *patterns.Reader[person] {
	r, err := patterns.Project[person](e.people)
	must(e.t, err)
	return r
}

// items returns items that cannot be written.
func items(e *env) []patterns.Item[person] {
	stale, malformed, moved, invalid := e.item, e.item, e.item, e.item
	stale.ETag, malformed.ETag, moved.Value.RowKey, invalid.Value.Name = etag, badETag, digits, bird+"\xff"
	missing := patterns.Item[person]{Value: *good("missing"), Key: good("missing").Key(), ETag: etag}
	return []patterns.Item[person]{stale, malformed, moved, invalid, missing}
}
