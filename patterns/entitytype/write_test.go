package entitytype_test

import (
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

func TestAnEntityIsWrittenAgainUnderTheETagItWasGiven(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		_, three := release(t, b, opts)
		key := sales("Department_1")
		if _, err := three.Insert(ctx, key, &department{"Sales", 1}); err != nil {
			t.Fatal(err)
		}
		e, err := three.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		d := e.Value.(*department)
		for d.EmployeeCount < 4 {
			d.EmployeeCount++
			if d.EmployeeCount%2 == 0 {
				e.ETag, err = three.Replace(ctx, e)
			} else {
				e.ETag, err = three.Merge(ctx, e)
			}
			if err != nil {
				t.Fatalf("count %d: %v", d.EmployeeCount, err)
			}
		}
		stale := e
		d.EmployeeCount++
		result, err := three.Transaction().Replace(e).Commit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for what, write := range map[string]func(entitytype.Entity) error{
			"replace": func(e entitytype.Entity) error { return second(three.Replace(ctx, e)) },
			"merge":   func(e entitytype.Entity) error { return second(three.Merge(ctx, e)) },
			"transaction": func(e entitytype.Entity) error {
				return second(three.Transaction().Merge(e).Commit(ctx))
			},
		} {
			if err := write(stale); !errors.Is(err, patterns.ErrConflict) {
				t.Errorf("%s of what has changed: %v", what, err)
			}
			anyway := stale
			anyway.ETag = azcore.ETagAny
			if err := write(anyway); err != nil {
				t.Errorf("%s whatever the version: %v", what, err)
			}
			none := stale
			none.ETag = ""
			if err := write(none); !errors.Is(err, patterns.ErrBadETag) {
				t.Errorf("%s without an ETag: %v", what, err)
			}
			moved := stale
			moved.Key.Row = "Department_2"
			if err := write(moved); !errors.Is(err, patterns.ErrKeyChanged) {
				t.Errorf("%s at another key: %v", what, err)
			}
		}
		if got, err := three.Get(ctx, key); err != nil || got.ETag == result.ETags[0] || got.Value.(*department).EmployeeCount != 5 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func second(_ any, err error) error { return err }

// An upsert may meet a row of another type: the row is then of the value's type, and
// Merge keeps what that has no field for.
func TestAnUpsertGivesTheRowItsType(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		_, three := release(t, b, nil)
		bags, err := patterns.NewTable[map[string]any](three.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
		if err != nil {
			t.Fatal(err)
		}
		key := sales("1")
		for _, c := range []struct {
			mode patterns.Mode
			kept bool
		}{{patterns.Merge, true}, {patterns.Replace, false}} {
			for what, upsert := range map[string]func() error{
				"alone": func() error { return second(three.Upsert(ctx, key, &department{"Sales", 2}, c.mode)) },
				"in a transaction": func() error {
					return second(three.Transaction().Upsert(key, &department{"Sales", 2}, c.mode).Commit(ctx))
				},
			} {
				if _, err := three.Upsert(ctx, key, &employee3{FirstName: "Ken"}, patterns.Replace); err != nil {
					t.Fatal(err)
				}
				if err := upsert(); err != nil {
					t.Fatalf("mode %v, %s: %v", c.mode, what, err)
				}
				e, err := three.Get(ctx, key)
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := e.Value.(*department); !ok || e.Name != "Department" || d.EmployeeCount != 2 {
					t.Errorf("mode %v, %s: %T, %+v", c.mode, what, e.Value, e)
				}
				bag, err := bags.Get(ctx, key)
				if _, kept := bag.Value["FirstName"]; kept != c.kept || err != nil {
					t.Errorf("mode %v, %s: the former property is kept: %v, %v", c.mode, what, kept, err)
				}
			}
		}
		for what, err := range map[string]error{
			"alone":            second(three.Upsert(ctx, key, &department{}, 7)),
			"in a transaction": second(three.Transaction().Upsert(key, &department{}, 7).Commit(ctx)),
		} {
			if err == nil {
				t.Errorf("a mode that is none, %s: no error", what)
			}
		}
	})
}

func TestRowKeysAreThoseOfOneType(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		_, three := release(t, b, &entitytype.Options{ByRowKey: true})
		for row, v := range map[string]any{
			"Department_": &department{"Sales", 1}, "Employee_": &employee3{FirstName: "a"}, "Employee_2_x": &employee3{FirstName: "b"},
			"EmployeeX_1": &entitytype.Unknown{}, "Employee": &entitytype.Unknown{},
		} {
			if _, err := three.Insert(ctx, sales(row), v); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		b.ResetRequests()
		for e, err := range three.Query(ctx, query.And(query.PartitionKey.Eq("Sales"), query.RowKey.Within(entitytype.RowKeys("Employee"))), nil) {
			if err != nil {
				t.Fatal(err)
			}
			got += e.Value.(*employee3).FirstName
		}
		if n := len(b.Requests()); got != "ab" || n != 1 {
			t.Errorf("got %q with %d requests", got, n)
		}
	})
}
