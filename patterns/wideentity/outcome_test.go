package wideentity_test

import (
	"context"
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// Each transaction is applied and its response lost. The SDK repeats it, and the repetition
// fails because of the first attempt.
func TestAWriteSucceedsIfItsResponseIsLost(t *testing.T) {
	type table = *wideentity.Table[properties]
	small, other := properties{"A": "a", "B": int32(1)}, properties{"A": "aa", "C": int32(2)}
	big := large("x")
	for name, c := range map[string]struct {
		before, after properties
		batches       int // whose response is lost, one in each round
		run           func(t *testing.T, table table) error
	}{
		"insert": {nil, small, 1, func(t *testing.T, table table) error {
			item, err := table.Insert(t.Context(), &small)
			if err == nil {
				_, err = table.Replace(t.Context(), item) // the ETag is right
			}
			return err
		}},
		"put": {small, other, 1, func(t *testing.T, table table) error {
			_, err := table.Put(t.Context(), &other)
			return err
		}},
		"put, staged": {small, big, 3, func(t *testing.T, table table) error {
			_, err := table.Put(t.Context(), &big)
			return err
		}},
		"set": {small, properties{"A": "aa", "B": int32(1)}, 1, func(t *testing.T, table table) error {
			return mergeAny(t.Context(), table, year, &properties{"A": "aa"}, "A")
		}},
		"update": {small, properties{"A": "a", "B": int32(2)}, 1, func(t *testing.T, table table) error {
			_, err := table.Update(t.Context(), year, func(b *properties) error {
				(*b)["B"] = (*b)["B"].(int32) + 1
				return nil
			})
			return err
		}},
		"delete": {small, nil, 1, func(t *testing.T, table table) error {
			return table.Delete(t.Context(), year, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				for n := range c.batches {
					table := open[properties](t, b.Table(t), nil)
					wideentity.SetBatchBytes(table, smallBatch)
					if c.before != nil {
						assert.Must(table.Insert(t.Context(), &c.before))(t)
					}
					b.ClearFaults()
					b.Fault(storagetest.On("Table.Batch").Nth(n + 1).LoseReply())
					assert.NoError(t, c.run(t, table), "response", n+1, "lost")
					b.ClearFaults()
					item, err := table.Get(t.Context(), year)
					if c.after == nil {
						assert.WantError(t, err, patterns.ErrNotFound, "response", n+1, "lost")
						continue
					}
					assert.NoError(t, err)
					wantProperties(t, item.Value, c.after)
				}
			})
		})
	}
}

func TestAnOutcomeThatTheHeadDoesNotShowIsUnknown(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := properties{"A": "a"}
		item := assert.Must(table.Insert(t.Context(), &v))(t)
		b.Fault(storagetest.On("Table.Batch").LoseReply(), storagetest.On("Table.Get").LoseRequest())
		item.Value = properties{"A": "b"}
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrConflict) {
			t.Errorf("the head cannot be read: %v", err)
		}
		b.ClearFaults()
		item = assert.Must(table.Get(t.Context(), year))(t)
		b.Fault(storagetest.On("Table.Batch").LoseReply())
		if err := table.Delete(t.Context(), year, item.ETag); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("the entity does not exist: %v", err)
		}
	})
}

// An attempt that got no response may still arrive at the service.
func TestOnlyAResponseProvesThatAWriteWasNotApplied(t *testing.T) {
	for what, c := range map[string]struct {
		rule    storagetest.Rule
		unknown bool
	}{
		"refused":     {storagetest.On("Table.Batch").Status(503, "ServerBusy"), false},
		"failed":      {storagetest.On("Table.Batch").Status(500, "InternalError"), false},
		"no response": {storagetest.On("Table.Batch").LoseRequest(), true},
	} {
		t.Run(what, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				all := []keys.Key{year}
				if b.Accelerated { // the ETag is not in the header of the response that shows the head
					all = append(all, keys.Key{Partition: "", Row: "x"})
				}
				for _, key := range all {
					table := open[properties](t, b.Table(t), nil)
					v := properties{"A": "a"}
					item := assert.Must(table.Insert(t.Context(), keyed(key, &v)))(t)
					b.Fault(c.rule)
					item.Value = properties{"A": "b"}
					if _, err := table.Replace(t.Context(), item); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) != c.unknown {
						t.Errorf("replace: %v", err)
					}
					if err := table.Delete(t.Context(), key, item.ETag); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) != c.unknown {
						t.Errorf("delete: %v", err)
					}
					b.ClearFaults()
					assert.Equal(t, assert.ErrorOf(table.Replace(t.Context(), item)), nil, "second replace")
				}
			})
		})
	}
}

// The first attempt of a write is lost, and other clients change the entity before the
// SDK repeats it. The head shows whether one of these changes was the write.
func TestTheHeadShowsThatOtherClientsMadeTheChange(t *testing.T) {
	type table = *wideentity.Table[properties]
	mine := properties{"A": "mine"}
	replace := func(ctx context.Context, table table, item wideentity.Item[properties]) error {
		item.Value = mine
		_, err := table.Replace(ctx, item)
		return err
	}
	remove := func(ctx context.Context, table table, item wideentity.Item[properties]) error {
		return table.Delete(ctx, year, item.ETag)
	}
	insert := func(ctx context.Context, table table, _ wideentity.Item[properties]) error {
		_, err := table.Insert(ctx, &mine)
		return err
	}
	for name, c := range map[string]struct {
		exists bool
		others int // writes of other clients
		run    func(context.Context, table, wideentity.Item[properties]) error
		want   error
	}{
		// The entity may have been inserted and deleted before the other client's insert.
		"insert after an insert":     {false, 1, insert, patterns.ErrOutcomeUnknown},
		"insert after eight writes":  {false, 8, insert, patterns.ErrOutcomeUnknown},
		"replace after seven writes": {true, 7, replace, patterns.ErrConflict},
		"replace after eight writes": {true, 8, replace, patterns.ErrOutcomeUnknown},
		"delete after seven writes":  {true, 7, remove, patterns.ErrConflict},
		"delete after eight writes":  {true, 8, remove, patterns.ErrOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				name := harness.UniqueName()
				b.NamedTable(t, name)
				other := open[properties](t, b.Direct(t, name), nil)
				theirs := properties{"A": "theirs"}
				var item wideentity.Item[properties]
				if c.exists {
					item = assert.Must(other.Insert(t.Context(), &theirs))(t)
				}
				b.Fault(storagetest.On("Table.Batch").Nth(1).LoseRequest())
				lost := false
				table := open[properties](t, b.AfterEachTry(t, name, func(int) {
					if last := b.Requests()[len(b.Requests())-1]; lost || last.Op != "Table.Batch" {
						return
					}
					lost = true
					for range c.others {
						assert.Must(other.Put(t.Context(), &theirs))(t)
					}
				}), nil)
				err := c.run(t.Context(), table, item)
				if !errors.Is(err, c.want) || c.want != patterns.ErrOutcomeUnknown && errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if c.want == patterns.ErrOutcomeUnknown && (errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists)) {
					t.Errorf("%v invites the caller to repeat the write", err)
				}
				wantProperties(t, assert.Must(other.Get(t.Context(), year))(t).Value, theirs)
			})
		})
	}
}

// No head points to the rows, whether or not the transaction was applied.
func TestAStagedWriteThatFailsBeforeItsHeadIsNotApplied(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		wideentity.SetBatchBytes(table, smallBatch)
		small, big := properties{"A": "a"}, large("x")
		item := assert.Must(table.Insert(t.Context(), &small))(t)
		for n := 1; n <= 2; n++ {
			b.Fault(storagetest.On("Table.Batch").Nth(n).Times(storagetest.Forever).LoseRequest())
			item.Value = big
			if _, err := table.Replace(t.Context(), item); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("transaction %d: %v", n, err)
			}
			b.ClearFaults()
			wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, small)
		}
		item.Value = big
		assert.Must(table.Replace(t.Context(), item))(t)
	})
}
