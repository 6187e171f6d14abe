package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func inserts(hires []*hire) []patterns.StoreOp[hire] {
	var ops []patterns.StoreOp[hire]
	for _, h := range hires {
		ops = append(ops, patterns.InsertEntity(h))
	}
	return ops
}

func TestBulkFillsTransactionsWithEntitiesAndTheirRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for _, c := range []struct {
			views    []patterns.View[hire]
			names    []string
			requests map[string]int // of 250 inserts
		}{
			{nil, nil, map[string]int{"Table.Batch": 3}},
			{[]patterns.View[hire]{byEmail()}, []string{"byEmail"}, map[string]int{"Table.Batch": 5}},
			// The list is read before each transaction, and takes one of its 100 rows.
			{[]patterns.View[hire]{lastHere()}, []string{"lastHere"}, map[string]int{"Table.Batch": 3, "Table.Get": 4}},
		} {
			client := b.Table(t)
			s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: c.views}))(t)
			b.ResetRequests()
			report := assert.Must(s.Bulk(ctx, slices.Values(inserts(people(250))), nil))(t)
			if report.Done != 250 || report.Found != 250 || report.Failed != 0 || report.Requests != c.requests["Table.Batch"] {
				t.Errorf("%v: report %+v", c.names, report)
			}
			b.WantRequests(t, c.requests)
			assert.NoError(t, verify(ctx, client, nil, c.names, nil))
		}
	})
}

func TestBulkKeepsEveryViewUpToDate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := newFullStore(t, b, func(_ context.Context, _ keys.Key, err error) { t.Errorf("pending: %v", err) }), t.Context()
		hires := people(20)
		for i, h := range hires {
			if i%3 == 0 {
				h.Dept = "Marketing"
			}
		}
		ops := inserts(hires)
		ops = append(ops, patterns.DeleteEntity[hire](hires[1].key())) // its badge passes to the next one
		ops = append(ops, patterns.UpdateEntity(hires[2].key(), func(h *hire) error { h.Badge, h.Last = "b1", "Smith"; return nil }))
		ops = append(ops, patterns.PutEntity(&hire{Dept: "Sales", ID: "4", Name: "Zoe", Head: true}))
		report := assert.Must(s.Bulk(ctx, slices.Values(ops), nil))(t)
		assert.Equal(t, report.Done, len(ops))
		assert.Equal(t, s.queue.Len(), 0)
		assert.NoError(t, verify(ctx, s.client, s.other, everyView, nil))
	})
}

func TestBulkReportsTheEntityThatFails(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := newFullStore(t, b, nil), t.Context()
		hires := people(12)
		assert.NoError(t, insertAll(ctx, s.Store, hires[:3]))
		stale := assert.Must(s.Get(ctx, hires[2].key()))(t)
		assert.NoError(t, assert.ErrorOf(s.Update(ctx, stale.Key, func(h *hire) error { h.Age++; return nil })))
		mine := errors.New("mine")
		change := func(*hire) error { return mine }
		ops := inserts(hires[3:])
		want := map[int]error{}
		for _, c := range []struct {
			op   patterns.StoreOp[hire]
			want error
		}{
			{patterns.InsertEntity(hires[0]), patterns.ErrExists},
			{patterns.InsertEntity(&hire{Dept: "Sales", ID: "20", Email: "e1"}), patterns.ErrExists},
			{patterns.InsertEntity(&hire{Dept: "Sales", ID: "21", Badge: "b1"}), patterns.ErrExists},
			{patterns.InsertEntity(&hire{Dept: "Sales", ID: "22", Badge: "b5"}), patterns.ErrExists}, // that of an insert before it
			{patterns.PutEntity(&stale.Value).Was(stale), patterns.ErrConflict},
			{patterns.UpdateEntity(hires[1].key(), change), mine},
			{patterns.UpdateEntity(keys.Key{Partition: "Sales", Row: "id_none"}, change), patterns.ErrNotFound},
			{patterns.InsertEntity[hire](nil), patterns.ErrNil},
			{patterns.InsertEntity(&hire{Dept: "a/b", ID: "1"}), patterns.ErrBadKey},
			{patterns.InsertEntity(&hire{Dept: "Sales", ID: "23", Name: strings.Repeat("x", 40_000)}), patterns.ErrTooLarge},
		} {
			want[len(ops)] = c.want
			ops = append(ops, c.op)
		}
		report, err := s.Bulk(ctx, slices.Values(ops), nil)
		if err == nil || report.Done != len(ops)-len(want) || report.Failed != len(want) || len(report.Failures) != len(want) {
			t.Errorf("%v, report %+v", err, report)
		}
		for _, f := range report.Failures {
			assert.WantError(t, f.Err, want[f.Index])
			assert.Equal(t, fmt.Sprint(f.Op), fmt.Sprint(ops[f.Index]))
		}
		assert.NoError(t, verify(ctx, s.client, s.other, everyView, nil))
		assert.Equal(t, s.queue.Len(), 0, "messages remain")
	})
}

func TestBulkAppliesOperationsOnOneEntityInOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: localViews()}))(t)
		h := people(1)[0]
		var ops []patterns.StoreOp[hire]
		for i := range 5 {
			ops = append(ops, patterns.InsertEntity(h), patterns.UpdateEntity(h.key(), func(h *hire) error {
				h.Email, h.Age = fmt.Sprint("x", i), h.Age+1
				return nil
			}))
			if i < 4 {
				ops = append(ops, patterns.DeleteEntity[hire](h.key()))
			}
		}
		report := assert.Must(s.Bulk(ctx, slices.Values(ops), &patterns.BulkOptions{Parallel: 3}))(t)
		got := assert.Must(s.Get(ctx, h.key()))(t)
		if got.Value.Email != "x4" || got.Value.Age != h.Age+1 || report.Done != len(ops) || report.Requests != len(ops) {
			t.Errorf("%+v after %+v", got.Value, report)
		}
		assert.NoError(t, verify(ctx, client, nil, viewsHere, nil))
	})
}

func TestBulkStopsWhenItsContextEnds(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: localViews()}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		taken := 0
		report, err := s.Bulk(ctx, func(yield func(patterns.StoreOp[hire]) bool) {
			for _, op := range inserts(people(10)) {
				if taken++; taken == 5 {
					cancel()
				}
				if !yield(op) {
					return
				}
			}
		}, nil)
		if !errors.Is(err, context.Canceled) || report.Found != 4 || report.Failed != 4 || report.Done != 0 {
			t.Errorf("%v, report %+v", err, report)
		}
		b.WantRequestCount(t, 0)
		_, err = s.Bulk(ctx, nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
	})
}

// Each partition has few entities; their transactions are sent concurrently.
func TestBulkChangesPartitionsConcurrently(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byEmail()}}))(t)
		hires := people(40)
		for i, h := range hires {
			h.Dept = fmt.Sprint("d", i%20)
		}
		b.Fault(storagetest.On("Table.Batch").Delay(time.Second))
		began := time.Now()
		report := assert.Must(s.Bulk(t.Context(), slices.Values(inserts(hires)), &patterns.BulkOptions{Parallel: 10}))(t)
		if took := time.Since(began); took != 2*time.Second || report.Requests != 20 {
			t.Errorf("%v, report %+v", took, report)
		}
	})
}

// aztables cannot send a transaction that deletes a row with a quote in its key. Alone it can.
func TestAQuoteInAKeyDoesNotPreventTheOtherOperationsOfABulk(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		hires := people(10)
		hires[4].ID = "it's"
		assert.Must(s.Bulk(ctx, slices.Values(inserts(hires)), nil))(t)
		var deletes []patterns.StoreOp[hire]
		for _, h := range hires {
			deletes = append(deletes, patterns.DeleteEntity[hire](h.key()))
		}
		b.ResetRequests()
		report := assert.Must(s.Bulk(ctx, slices.Values(deletes), nil))(t)
		sent := 0
		for _, q := range b.Requests() {
			if q.Op != "Table.Get" {
				sent++
			}
		}
		assert.Equal(t, [3]int{report.Done, report.Failed, report.Requests}, [3]int{10, 0, sent})
		assert.Equal(t, len(harness.Rows(t, client)), 0)
	})
}
