package shards_test

import (
	"errors"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/query"
)

// byA is a view with a unique copy of each doc at its A.
func byA(partition func(*doc) string) patterns.View[doc] {
	return patterns.ViewOf("byA", patterns.Shape{}, func(d *doc) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: partition(d), Row: "a_" + d.A}, patterns.CopySpec{})}, nil
	})
}

func own(d *doc) string { return d.PartitionKey }

func TestAStoreMovesWithTheRowsOfItsViews(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 3)
		o.Lease = time.Millisecond
		s, table := create(t, list[:2], o)
		store := assert.Must(shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{byA(own)}}))(t)
		var all []keys.Key
		for _, p := range []string{"p0", "p1", "p2", "p3", "p4", "p5"} {
			d := doc{PartitionKey: p, RowKey: "x", A: "1"}
			all = append(all, assert.Must(store.Insert(t.Context(), &d))(t).Key)
		}
		list[2].Weight = 4
		assert.NoError(t, s.Add(t.Context(), list[2], nil))
		for _, key := range all {
			assert.Must(store.Update(t.Context(), key, func(d *doc) error { d.A = "2"; return nil }))(t)
		}
		assert.EqualSlices(t, keysOf(assert.All(t, store.Query(t.Context(), query.Filter{}, everything))), all, "the entities are")
		page := assert.Must(store.Page(t.Context(), query.Filter{}, "", everything))(t)
		assert.EqualSlices(t, keysOf(page.Items), all, "the entities of the page are")
		for page, err := range store.Scan(t.Context(), query.Filter{}, "", nil) {
			assert.NoError(t, err)
			assert.EqualSlices(t, keysOf(page.Items), all, "the entities of the scan are")
		}
		for _, key := range all { // the copy at the old value is gone, that at the new value is there
			assert.WantError(t, failure(table.Get(t.Context(), keys.Key{Partition: key.Partition, Row: "a_1"})), patterns.ErrNotFound)
			assert.Must(table.Get(t.Context(), keys.Key{Partition: key.Partition, Row: "a_2"}))(t)
		}
		d := doc{PartitionKey: "p0", RowKey: "x", A: "3"}
		assert.Must(store.Put(t.Context(), &d))(t)
		assert.Equal(t, assert.Must(store.Get(t.Context(), all[0]))(t).Value, d, "the entity is")
		assert.NoError(t, store.Delete(t.Context(), all[0]))
		if n := rowsIn(t, list); n[0]+n[1]+n[2] != 2*(len(all)-1) {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}

func failure[V any](_ V, err error) error { return err }

func TestAViewOutsideThePartitionIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		_, table := create(t, list, o)
		_, err := shards.NewStore(table, &patterns.StoreOptions[doc]{Outbox: &harness.OutboxQueue{}})
		assert.WantError(t, err, shards.ErrRemoteRows)
		expires := expiry.At("expiry", list[0].Tables.NewClient("lookups"), func(*doc) time.Time { return time.Time{} }, nil)
		for _, view := range []patterns.View[doc]{expires, secondaryindex.Lookup("lookup", nil, func(*doc) []string { return nil }, nil)} {
			_, err = shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{view}})
			assert.WantError(t, err, shards.ErrRemoteRows)
		}
		remote := patterns.ViewOf("remote", patterns.Shape{Remote: true}, func(*doc) ([]patterns.DerivedRow, error) { return nil, nil })
		_, err = shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{remote}})
		assert.WantError(t, err, patterns.ErrBadView)
		// A view that does not declare it fails before it changes anything.
		elsewhere := assert.Must(shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{byA(func(d *doc) string { return "by " + d.A })}}))(t)
		_, err = elsewhere.Insert(t.Context(), &doc{PartitionKey: "p", RowKey: "x", A: "1"})
		if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("the error is %v", err)
		}
		if n := rowsIn(t, list); n[0]+n[1] != 0 {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}

func TestMisuseIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		one := list[0]
		for _, c := range []struct {
			accounts []shards.Account
			table    string
			opts     *shards.Options
			want     error
		}{
			{nil, "docs", nil, patterns.ErrBadOption},
			{list, "", nil, patterns.ErrBadOption},
			{list, "docs", &shards.Options{Lease: -1}, patterns.ErrBadOption},
			{[]shards.Account{one, one}, "docs", nil, patterns.ErrBadOption},
			{[]shards.Account{{Name: "a"}}, "docs", nil, patterns.ErrNil},
			{[]shards.Account{{Tables: one.Tables}}, "docs", nil, patterns.ErrBadOption},
			{[]shards.Account{{Name: "a", Tables: one.Tables, Weight: -1}}, "docs", nil, patterns.ErrBadOption},
		} {
			_, err := shards.New(c.accounts, c.table, c.opts)
			assert.WantError(t, err, c.want)
		}
		s := assert.Must(shards.New(list, "docs", o))(t)
		_, err := shards.NewTable[doc](nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
		_, err = shards.NewStore[doc](nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
		table := assert.Must(shards.NewTable[doc](s, nil))(t)
		_, err = table.Insert(t.Context(), &doc{PartitionKey: "p", RowKey: "~azpmove"})
		assert.WantError(t, err, patterns.ErrBadKey)
		_, err = table.Insert(t.Context(), nil)
		assert.WantError(t, err, patterns.ErrNil)
		assert.WantError(t, s.Pin(t.Context(), "p", one.Name, &shards.MoveOptions{Rows: -1}), patterns.ErrBadOption)
		assert.WantError(t, s.Pin(t.Context(), "p", one.Name, &shards.MoveOptions{Parallel: -1}), patterns.ErrBadOption)
		b.WantRequestCount(t, 0)

		_, err = table.Get(t.Context(), keys.Key{Partition: "p", Row: "r"})
		assert.WantError(t, err, shards.ErrNoDirectory)
		assert.NoError(t, s.Create(t.Context()))
		first := assert.Must(shards.New(list[:1], "docs", o))(t) // lacks the second account
		lacking := assert.Must(shards.NewTable[doc](first, nil))(t)
		_, err = lacking.Page(t.Context(), query.Filter{}, "", everything)
		assert.WantError(t, err, shards.ErrUnknownAccount)
		b.ResetRequests() // it does not take over moves, which it could not finish
		assert.WantError(t, first.Pin(t.Context(), "p", one.Name, nil), shards.ErrUnknownAccount)
		b.WantRequests(t, map[string]int{"Table.Get": 1})
	})
}
