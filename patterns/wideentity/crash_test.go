package wideentity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// large returns an entity that exceeds smallBatch, so that its write is staged.
func large(mark string) properties {
	v := properties{}
	for _, name := range modelNames {
		v[name] = mark + text(900)
	}
	return v
}

// After a crash at any request, the entity is as before or as it was to be, it can be
// written again, and after a sweep no other row is left. That is so for rows with notes, for
// plain rows, and for plain rows that another program has stored.
func TestACrashLeavesTheEntityBeforeOrAfterTheWrite(t *testing.T) {
	small := properties{"A": "a", "B": "b", "C": int32(1)}
	type table = *wideentity.Table[properties]
	for name, c := range map[string]struct {
		before, after properties // nil: the entity does not exist
		run           func(ctx context.Context, table table) error
	}{
		"insert": {nil, small, func(ctx context.Context, table table) error {
			_, err := table.Insert(ctx, &small)
			return err
		}},
		"insert, staged": {nil, large("x"), func(ctx context.Context, table table) error {
			v := large("x")
			_, err := table.Insert(ctx, &v)
			return err
		}},
		"replace in place by staged": {small, large("x"), func(ctx context.Context, table table) error {
			v := large("x")
			_, err := table.Put(ctx, &v)
			return err
		}},
		"replace staged by staged": {large("x"), large("y"), func(ctx context.Context, table table) error {
			v := large("y")
			_, err := table.Put(ctx, &v)
			return err
		}},
		"shrink": {large("x"), small, func(ctx context.Context, table table) error {
			_, err := table.Put(ctx, &small)
			return err
		}},
		"merge": {small, properties{"A": "a", "B": "bb", "C": int32(1), "D": "d"}, func(ctx context.Context, table table) error {
			return mergeAny(ctx, table, year, &properties{"B": "bb", "D": "d"}, "B", "D")
		}},
		"update": {small, properties{"A": "a", "C": int32(2)}, func(ctx context.Context, table table) error {
			_, err := table.Update(ctx, year, func(b *properties) error {
				(*b)["C"] = (*b)["C"].(int32) + 1
				delete(*b, "B")
				return nil
			})
			return err
		}},
		"delete": {large("x"), nil, func(ctx context.Context, table table) error {
			return table.Delete(ctx, year, "")
		}},
	} {
		for layout, opts := range map[string]*wideentity.Options[properties]{"annotated": nil, "plain": {Plain: true}, "by hand": {Plain: true}} {
			client := func(acct *storagetest.Account) table {
				table := open[properties](t, acct.TablesWith(harness.Accelerated()).NewClient("Wide"), opts)
				if opts == nil {
					wideentity.SetBatchBytes(table, smallBatch)
				}
				return table
			}
			t.Run(name+"/"+layout, func(t *testing.T) {
				storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
					table := client(acct)
					if err := table.Create(ctx); err != nil {
						return err
					}
					if c.before != nil {
						if _, err := table.Insert(ctx, &c.before); err != nil {
							return err
						}
					}
					if layout == "by hand" && c.before != nil {
						if _, err := table.Client().DeleteEntity(ctx, year.Partition, year.Row+"_00", nil); err != nil {
							return err
						}
					}
					acct.Arm()
					return c.run(ctx, table)
				}, func(t *testing.T, acct *storagetest.Account) {
					table := client(acct)
					state := func() (got properties) {
						item, err := table.Get(t.Context(), year)
						if err == nil {
							got = without(item.Value)
						} else if !errors.Is(err, patterns.ErrNotFound) {
							t.Fatal(err)
						}
						if !(sameState(got, c.before) || sameState(got, c.after)) {
							t.Fatalf("%d properties, which is the entity neither before nor after the write", len(got))
						}
						return got
					}
					got := state()
					// Reading the properties one at a time returns the same.
					for _, name := range modelNames {
						part, err := table.GetOnly(t.Context(), year, name)
						if (err == nil) != (got != nil) || got != nil && !sameProperties(part.Value, only(got, []string{name})) {
							t.Errorf("property %s by itself: %v", name, err)
						}
					}
					time.Sleep(2 * time.Hour) // in virtual time; a request in flight arrives
					got = state()
					assert.NoError(t, assert.ErrorOf(table.Sweep(t.Context(), nil)))
					wantRows(t, acct, got)
					z := large("z")
					assert.NoError(t, assert.ErrorOf(table.Put(t.Context(), &z)))
					item := assert.Must(table.Get(t.Context(), year))(t)
					wantProperties(t, item.Value, z)
					wantRows(t, acct, z)
				})
			})
		}
	}
}

func sameState(got, want properties) bool {
	return (got == nil) == (want == nil) && sameProperties(got, want)
}

// wantRows checks that there are no more rows than one for each part that has a property,
// and the head.
func wantRows(t *testing.T, acct *storagetest.Account, v properties) {
	t.Helper()
	want := map[string]bool{}
	for name := range v {
		want[fmt.Sprintf("%s_%02d", year.Row, hashOf(name, 16)+1)] = true
	}
	for _, raw := range harness.Rows(t, acct.Tables().NewClient("Wide")) {
		var row struct{ RowKey string }
		assert.NoError(t, json.Unmarshal(raw, &row))
		part := row.RowKey[:min(len(row.RowKey), len("000123_01"))] // staged or in place
		if !want[part] && (v == nil || row.RowKey != year.Row+"_00") {
			t.Errorf("row %s is left", row.RowKey)
		}
		delete(want, part)
	}
	if len(want) > 0 {
		t.Errorf("no rows %v", want)
	}
}
