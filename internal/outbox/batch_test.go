package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// people are entities of one department.
func people(n int) []*hire {
	all := make([]*hire, n)
	for i := range all {
		all[i] = &hire{
			Dept: "Sales", ID: fmt.Sprint(i), Name: []string{"Ann", "Bob"}[i%2], Last: "Jones",
			Email: fmt.Sprint("e", i), Badge: fmt.Sprint("b", i), Age: int32(20 + i),
		}
	}
	return all
}

func insertAll(ctx context.Context, s *patterns.Store[hire], hires []*hire) error {
	b := s.Batch()
	for _, h := range hires {
		b.Insert(h)
	}
	items, err := b.Commit(ctx)
	for i, item := range items {
		if item.ETag == "" || item.Key != hires[i].key() || item.Value != *hires[i] {
			return fmt.Errorf("item %d is %+v", i, item)
		}
	}
	return err
}

func swapEmails(ctx context.Context, s *patterns.Store[hire]) error {
	_, err := s.Batch().
		Update(keys.Key{Partition: "Sales", Row: "id_0"}, func(h *hire) error { h.Email = "e1"; return nil }).
		Update(keys.Key{Partition: "Sales", Row: "id_1"}, func(h *hire) error { h.Email = "e0"; return nil }).
		Commit(ctx)
	return err
}

func TestABatchWithCopiesInThePartitionIsOneTransaction(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byEmail()}}))(t)
		check := func(n int, err error) {
			t.Helper()
			assert.NoError(t, err)
			b.WantRequestCount(t, n)
			assert.NoError(t, verify(ctx, client, nil, []string{"byEmail"}, nil))
			b.ResetRequests()
		}
		_, err := s.Batch().Commit(ctx)
		check(0, err)
		check(1, insertAll(ctx, s, people(3)))
		check(3, swapEmails(ctx, s)) // two reads

		// A value passes to a new entity in the transaction that deletes its owner, and
		// three pass around in a ring.
		zero := assert.Must(s.Get(ctx, people(1)[0].key()))(t)
		b.ResetRequests()
		four := &hire{Dept: "Sales", ID: "4", Email: zero.Value.Email}
		items, err := s.Batch().Insert(four).DeleteItem(zero).Commit(ctx)
		check(1, err)
		assert.Equal(t, items[1], patterns.Item[hire]{Key: zero.Key})
		assert.Equal(t, items[0].Value, *four)
		ring := s.Batch()
		for i, h := range []*hire{people(2)[1], people(3)[2], four} {
			ring.Update(h.key(), func(h *hire) error { h.Email = []string{"e2", "e1", "e0"}[i]; return nil })
		}
		_, err = ring.Commit(ctx)
		check(4, err)
		_, err = ring.Commit(ctx)
		assert.WantError(t, err, patterns.ErrCommitted)

		// What does not exist cannot be deleted.
		_, err = s.Batch().Delete(people(1)[0].key()).Put(&hire{Dept: "Sales", ID: "5"}).Commit(ctx)
		assert.WantError(t, err, patterns.ErrNotFound)
		check(2, nil)
	})
}

func TestEntitiesOfABatchShareListsAndCounters(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: localViews()}))(t)
		check := func(n int, err error) {
			t.Helper()
			assert.NoError(t, err)
			b.WantRequestCount(t, n)
			assert.NoError(t, verify(ctx, client, nil, viewsHere, nil))
			b.ResetRequests()
		}
		hires := people(4)
		hires[0].Head = true
		check(3, insertAll(ctx, s, hires)) // one list, the department
		_, err := s.Batch().
			Update(hires[1].key(), func(h *hire) error { h.Head, h.Last, h.Email = true, "Smith", "e0"; return nil }).
			Update(hires[0].key(), func(h *hire) error { h.Head, h.Email = false, "new"; return nil }).
			Delete(hires[2].key()).
			Insert(&hire{Dept: "Sales", ID: "9", Last: "Smith", Email: "e2"}).
			Commit(ctx)
		check(3+3+1, err) // entities, two lists and the department
		// The last members of a list: the row is deleted. Two heads are one too many.
		all := s.Batch()
		for _, id := range []string{"0", "1", "3", "9"} {
			all.Delete(keys.Key{Partition: "Sales", Row: "id_" + id})
		}
		_, err = all.Commit(ctx)
		check(4+3+1, err)
		hires[1].Head = true
		err = insertAll(ctx, s, hires)
		var failed *patterns.BatchError
		if !errors.As(err, &failed) || failed.Index != 1 || !errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("two heads: %v", err)
		}
	})
}

func TestABatchWithRemoteRowsPutsOneMessage(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, func(_ context.Context, _ keys.Key, err error) { t.Errorf("pending: %v", err) })
		ctx, puts := t.Context(), 0
		counted := assert.Must(newHires(s.client, patterns.StoreOptions[hire]{Views: allViews(s.other), Outbox: putCounter{s.queue, &puts}}))(t)
		check := func(err error) {
			t.Helper()
			assert.NoError(t, err)
			assert.NoError(t, verify(ctx, s.client, s.other, everyView, nil))
			assert.Equal(t, puts, 1)
			assert.Equal(t, s.queue.Len(), 0)
			puts = 0
		}
		check(insertAll(ctx, counted, people(3)))
		check(swapEmails(ctx, counted))
		_, err := counted.Batch().
			Update(people(1)[0].key(), func(h *hire) error { h.Name, h.Badge, h.Last = "Zoe", "new", "Smith"; return nil }).
			Delete(people(2)[1].key()).
			Insert(&hire{Dept: "Sales", ID: "9", Name: "Ann", Last: "Jones", Badge: "nine"}).
			Commit(ctx)
		check(err)
	})
}

// putCounter counts the messages that are put.
type putCounter struct {
	patterns.OutboxQueue
	puts *int
}

func (q putCounter) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	*q.puts++
	return q.OutboxQueue.Put(ctx, m, after)
}

func TestRequestsOfABatchWithRemoteRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client, other, queue := b.Table(t), b.Table(t), &harness.OutboxQueue{}
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byBadge(), byName(other)}, Outbox: queue}))(t)
		assert.NoError(t, insertAll(t.Context(), s, people(10)))
		// Reservations; the transaction; the rows in both tables; the check that each
		// entity is unchanged; the delete of all outbox rows.
		b.WantRequests(t, map[string]int{"Table.Insert": 10 + 10, "Table.Batch": 2, "Table.Replace": 10, "Table.Get": 10})
	})
}

func TestABatchIsAppliedAsAWholeOrNotAtAll(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := newFullStore(t, b, nil), t.Context()
		hires := people(6)
		assert.NoError(t, insertAll(ctx, s.Store, hires[:3]))
		stale := assert.Must(s.Get(ctx, hires[2].key()))(t)
		_, err := s.Update(ctx, stale.Key, func(h *hire) error { h.Age++; return nil })
		assert.NoError(t, err)
		before := assert.Must(readTable(ctx, s.client))(t)
		mine := errors.New("mine")
		taken := func(edit func(h *hire)) *hire {
			h := &hire{Dept: "Sales", ID: "7", Name: "Zoe"}
			edit(h)
			return h
		}
		for name, c := range map[string]struct {
			op    func(b *patterns.StoreBatch[hire])
			index int
			want  error
		}{
			"exists":          {func(b *patterns.StoreBatch[hire]) { b.Insert(hires[1]) }, 1, patterns.ErrExists},
			"changed":         {func(b *patterns.StoreBatch[hire]) { b.PutItem(stale, &stale.Value) }, 1, patterns.ErrConflict},
			"changed, delete": {func(b *patterns.StoreBatch[hire]) { b.DeleteItem(stale) }, 1, patterns.ErrConflict},
			"missing":         {func(b *patterns.StoreBatch[hire]) { b.Update(hires[5].key(), func(*hire) error { return nil }) }, 1, patterns.ErrNotFound},
			"error of change": {func(b *patterns.StoreBatch[hire]) { b.Update(hires[1].key(), func(*hire) error { return mine }) }, 1, mine},
			"key changed": {func(b *patterns.StoreBatch[hire]) {
				b.Update(hires[1].key(), func(h *hire) error { h.ID = "x"; return nil })
			}, 1, patterns.ErrKeyChanged},
			"taken email": {func(b *patterns.StoreBatch[hire]) { b.Insert(taken(func(h *hire) { h.Email = "e0" })) }, 1, patterns.ErrExists},
			"taken badge": {func(b *patterns.StoreBatch[hire]) { b.Insert(taken(func(h *hire) { h.Badge = "b0" })) }, 1, patterns.ErrExists},
			"email twice": {func(b *patterns.StoreBatch[hire]) { b.Insert(taken(func(h *hire) { h.Email = "e4" })) }, 1, patterns.ErrExists},
			"badge twice": {func(b *patterns.StoreBatch[hire]) { b.Insert(taken(func(h *hire) { h.Badge = "b4" })) }, 1, patterns.ErrExists},
			"badge handed over": {func(b *patterns.StoreBatch[hire]) {
				b.Delete(hires[1].key()).Insert(taken(func(h *hire) { h.Badge = "b1" }))
			}, 2, patterns.ErrExists},
			"twice":             {func(b *patterns.StoreBatch[hire]) { b.Delete(hires[4].key()) }, 1, patterns.ErrDuplicateRow},
			"another partition": {func(b *patterns.StoreBatch[hire]) { b.Put(&hire{Dept: "Marketing"}) }, 1, patterns.ErrMixedPartitions},
			"nil":               {func(b *patterns.StoreBatch[hire]) { b.Insert(nil) }, 1, patterns.ErrNil},
			"no function":       {func(b *patterns.StoreBatch[hire]) { b.Update(hires[1].key(), nil) }, 1, patterns.ErrNil},
			"insert of an item": {func(b *patterns.StoreBatch[hire]) { b.Add(patterns.InsertEntity(&stale.Value).Was(stale)) }, 1, patterns.ErrExists},
			"other key":         {func(b *patterns.StoreBatch[hire]) { b.Add(patterns.DeleteEntity[hire](hires[1].key()).Was(stale)) }, 1, patterns.ErrKeyChanged},
			"zero operation":    {func(b *patterns.StoreBatch[hire]) { b.Add(patterns.StoreOp[hire]{}) }, 1, patterns.ErrNil},
		} {
			batch := s.Batch().Insert(hires[4])
			c.op(batch)
			items, err := batch.Insert(hires[3]).Commit(ctx)
			var failed *patterns.BatchError
			if !errors.Is(err, c.want) || !errors.As(err, &failed) || failed.Index != c.index || items != nil {
				t.Errorf("%s: got %v, index %+v", name, err, failed)
			}
		}
		after := assert.Must(readTable(ctx, s.client))(t)
		assert.Equal(t, fmt.Sprint(before), fmt.Sprint(after), "before", before, "after", after)
		assert.NoError(t, verify(ctx, s.client, s.other, everyView, nil))
		assert.Equal(t, s.queue.Len(), 0, "messages remain")
		_, err = new(patterns.StoreBatch[hire]).Delete(hires[0].key()).Commit(ctx)
		assert.WantError(t, err, patterns.ErrNil)
	})
}

func TestABatchThatIsTooLargeIsRefusedWithItsPlan(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byEmail()}}))(t)
		assert.NoError(t, insertAll(ctx, s, people(50)))
		b.ResetRequests()
		err := insertAll(ctx, s, people(51))
		var plan *patterns.PlanError
		if !errors.Is(err, patterns.ErrTooLarge) || !errors.As(err, &plan) || plan.Plan.Entities != 102 || !strings.Contains(err.Error(), "transaction of 102 rows") {
			t.Errorf("got %v", err)
		}
		b.WantRequestCount(t, 0)
		puts := s.Batch()
		for _, h := range people(101) {
			puts.Put(h)
		}
		_, err = puts.Commit(ctx)
		assert.WantError(t, err, patterns.ErrTooLarge)
		b.WantRequestCount(t, 0)
	})
}

// A view merges into the row of an entity that is in the same transaction.
func TestABatchRefusesAnEntityThatAnotherOneMergesInto(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		boss := patterns.ViewOf("boss", patterns.Shape{Kind: patterns.Merges}, func(h *hire) ([]patterns.DerivedRow, error) {
			if h.ID == "0" {
				return nil, nil
			}
			return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: h.Dept, Row: "id_0"}, patterns.MergeSpec{Add: map[string]any{"Reports": int32(1)}})}, nil
		})
		client := b.Table(t)
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{boss}}))(t)
		err := insertAll(t.Context(), s, people(2))
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrDuplicateRow) || !errors.As(err, &failed) || failed.Index != 1 {
			t.Errorf("got %v", err)
		}
		b.WantRequestCount(t, 0)
	})
}
