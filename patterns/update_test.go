package patterns_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestUpdateRetriesAConflict(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		harness.Insert(t, table, counter{"hits", "0", 0})
		b.ResetRequests()
		runs := 0
		item, err := table.Update(ctx, tally, func(c *counter) error {
			if runs++; runs <= 2 {
				assert.Equal(t, assert.ErrorOf(table.Upsert(ctx, &counter{"hits", "0", int64(10 * runs)}, patterns.Replace)), nil)
			}
			return addOne(c)
		})
		if err != nil || item.Value.N != 21 || runs != 3 {
			t.Errorf("%+v after %d runs, %v", item.Value, runs, err)
		}
		b.WantRequestCount(t, 3*2+2) // three reads, three attempts, two competing writes
		if got := harness.Get(t, table, tally); got.Value != item.Value || got.ETag != item.ETag {
			t.Errorf("the row is %+v, returned was %+v", got, item)
		}
	})
}

func TestUpdateReturnsTheConflictAfterItsLastTry(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		for _, c := range []struct{ option, tries int }{{0, 16}, {3, 3}, {1, 1}} {
			table := harness.NewTable(t, client, &patterns.TableOptions[counter]{Tries: c.option})
			assert.NoError(t, assert.ErrorOf(table.Upsert(t.Context(), &counter{"hits", "0", 0}, patterns.Replace)))
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Replace").Status(http.StatusPreconditionFailed, "UpdateConditionNotSatisfied"))
			runs, start := 0, time.Now()
			_, err := table.Update(t.Context(), tally, func(c *counter) error { runs++; return addOne(c) })
			assert.WantError(t, err, patterns.ErrConflict)
			if waited := time.Since(start); runs != c.tries || waited > 15*time.Second || runs > 8 && waited < time.Second {
				t.Errorf("Tries %d: %d tries in %v", c.option, runs, waited)
			}
			b.ClearFaults()
		}
	})
}

func TestUpdateThatFailsChangesNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		before := harness.Insert(t, table, counter{"hits", "0", 5})
		b.ResetRequests()

		own := errors.New("own")
		_, err := table.Update(ctx, tally, func(c *counter) error { c.N = 99; return own })
		assert.Equal(t, err, own, "want the function's own error as it is")
		_, err = table.Update(ctx, tally, func(c *counter) error { c.Name = "SECRET"; return nil })
		assert.WantError(t, err, patterns.ErrKeyChanged)
		assert.WantHidden(t, err, "SECRET", "hits")
		_, err = table.Update(ctx, keys.Key{Partition: "hits", Row: "none"}, addOne)
		assert.WantError(t, err, patterns.ErrNotFound)
		b.WantRequestCount(t, 3)
		_, err = table.Update(ctx, tally, nil)
		assert.WantError(t, err, patterns.ErrNil)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err = table.Update(gone, tally, addOne)
		assert.WantError(t, err, context.Canceled)
		b.WantRequestCount(t, 0)

		ctx, cancel = context.WithCancel(ctx)
		_, err = table.Update(ctx, tally, func(c *counter) error { cancel(); return addOne(c) })
		assert.WantError(t, err, context.Canceled)
		b.WantRequestCount(t, 1)
		if got := harness.Get(t, table, tally); got.ETag != before.ETag {
			t.Errorf("the row was changed to %+v", got.Value)
		}
	})
}
