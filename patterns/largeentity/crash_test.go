package largeentity_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// If a process dies at any request, the entity is completely old or completely new,
// all its blobs exist, and two sweeps delete all other blobs.
func TestACrashLeavesNoDanglingReference(t *testing.T) {
	both := func(mark string, age int32) *employee {
		e := newJones(mark, large)
		e.Age, e.Notes = age, mark+string(make([]byte, large))
		return e
	}
	before, after := both("a", 40), both("b", 41)
	change := func(e *employee) error { *e = *after; return nil }
	for name, c := range map[string]struct {
		insert bool
		run    func(ctx context.Context, acct *storagetest.Account, table table) error
		states []*employee // permitted afterwards; nil is no entity
	}{
		"insert": {false, func(ctx context.Context, acct *storagetest.Account, table table) error {
			return assert.ErrorOf(table.Insert(ctx, after))
		}, []*employee{nil, after}},
		"replace": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			return assert.ErrorOf(table.Update(ctx, jones, change))
		}, []*employee{before, after}},
		"a conflict": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Replace").Nth(1).Status(412, "UpdateConditionNotSatisfied"))
			return assert.ErrorOf(table.Update(ctx, jones, change))
		}, []*employee{before, after}},
		"a lost reply": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Replace").Nth(1).LoseReply(), storagetest.On("Blob.Put").Nth(1).LoseReply())
			return assert.ErrorOf(table.Update(ctx, jones, change))
		}, []*employee{before, after}},
		"a refused insert": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			if _, err := table.Insert(ctx, after); !errors.Is(err, patterns.ErrExists) {
				return err
			}
			return nil
		}, []*employee{before}},
		"delete": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			return table.Delete(ctx, jones, "")
		}, []*employee{before, nil}},
		"sweep": {true, func(ctx context.Context, acct *storagetest.Account, table table) error {
			if _, err := table.UpdateMeta(ctx, jones, change); err != nil {
				return err
			}
			acct.Arm()
			for range 2 {
				time.Sleep(2 * day)
				if _, err := table.Sweep(ctx, nil); err != nil {
					return err
				}
			}
			return nil
		}, []*employee{after}},
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				table, err := largeentity.New[employee](acct.Tables().NewClient("Employees"), acct.Container("photos"), nil)
				if err != nil {
					return err
				}
				if err := table.Create(ctx); err != nil {
					return err
				}
				if c.insert {
					if _, err := table.Insert(ctx, before); err != nil {
						return err
					}
				}
				if name != "sweep" {
					acct.Arm()
				}
				return c.run(ctx, acct, table)
			}, func(t *testing.T, acct *storagetest.Account) {
				table := onAccount(t, acct, nil)
				var blobs int
				check := func() {
					t.Helper()
					item, err := table.Get(t.Context(), jones)
					var got *employee
					if err == nil {
						got = &item.Value
					} else if !errors.Is(err, patterns.ErrNotFound) {
						t.Fatal(err) // a dangling reference
					}
					for _, want := range c.states {
						if want == nil && got == nil {
							blobs = 0
							return
						}
						if want != nil && got != nil && same(*got, *want) {
							blobs = 2
							return
						}
					}
					t.Fatal("the entity is neither old nor new")
				}
				check()
				for range 2 {
					time.Sleep(2 * day)
					assert.NoError(t, assert.ErrorOf(table.Sweep(t.Context(), nil)))
				}
				check()
				assert.Equal(t, len(stored(t, table.Container())), blobs, "blobs")
			})
		})
	}
}
