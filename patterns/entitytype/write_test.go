package entitytype_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAWriteReturnsTheEntityForTheNextWrite(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		_, three := newTables(t, b, opts)
		key := sales("Department_1")
		d := &department{"Sales", 1}
		e, err := three.Insert(ctx, key, d)
		if err != nil || e.Key != key || e.Value != d || e.Name != "Department" || e.Version != 1 {
			t.Fatalf("insert returned %+v, %v", e, err)
		}
		assert.NoError(t, assert.ErrorOf(properties(t, three).Do(ctx, patterns.UpsertOp(&map[string]any{"Budget": 2.0}, patterns.Merge).At(key))))
		assert.WantError(t, assert.ErrorOf(three.Replace(ctx, e)), patterns.ErrConflict, "replace of a row that was changed after the insert")
		if e, err = three.Get(ctx, key); err != nil {
			t.Fatal(err)
		}
		d = e.Value.(*department)
		for d.EmployeeCount < 4 {
			d.EmployeeCount++
			if d.EmployeeCount%2 == 0 {
				e, err = three.Replace(ctx, e)
			} else {
				e, err = three.Merge(ctx, e)
			}
			assert.NoError(t, err, "count", d.EmployeeCount)
			if budget, _ := e.Property("Budget"); e.Value != d || e.Name != "Department" || budget != 2.0 {
				t.Errorf("count %d: the write returned %+v", d.EmployeeCount, e)
			}
		}
		stale := e
		d.EmployeeCount++
		result := assert.Must(three.Transaction().Replace(e).Commit(ctx))(t)
		for what, write := range map[string]func(entitytype.Entity) error{
			"replace": func(e entitytype.Entity) error { return assert.ErrorOf(three.Replace(ctx, e)) },
			"merge":   func(e entitytype.Entity) error { return assert.ErrorOf(three.Merge(ctx, e)) },
			"transaction": func(e entitytype.Entity) error {
				return assert.ErrorOf(three.Transaction().Merge(e).Commit(ctx))
			},
		} {
			assert.WantError(t, write(stale), patterns.ErrConflict, what, "of a row that was changed")
			anyway := stale
			anyway.ETag = azcore.ETagAny
			assert.Equal(t, write(anyway), nil, what, "of any version")
			none := stale
			none.ETag = ""
			assert.WantError(t, write(none), patterns.ErrBadETag, what, "without an ETag")
			moved := stale
			moved.Key.Row = "Department_2"
			assert.WantError(t, write(moved), patterns.ErrKeyChanged, what, "at another key")
		}
		if got, err := three.Get(ctx, key); err != nil || got.ETag == result.ETags[0] || got.Value.(*department).EmployeeCount != 5 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// The row may have had another type before.
func TestAnUpsertChangesTheTypeOfTheRow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		_, three := newTables(t, b, nil)
		maps := properties(t, three)
		key := sales("1")
		for _, c := range []struct {
			mode patterns.Mode
			kept bool
		}{{patterns.Merge, true}, {patterns.Replace, false}} {
			for what, upsert := range map[string]func() error{
				"alone": func() error { return assert.ErrorOf(three.Upsert(ctx, key, &department{"Sales", 2}, c.mode)) },
				"in a transaction": func() error {
					return assert.ErrorOf(three.Transaction().Upsert(key, &department{"Sales", 2}, c.mode).Commit(ctx))
				},
			} {
				assert.NoError(t, assert.ErrorOf(three.Upsert(ctx, key, &employee3{FirstName: "Ken"}, patterns.Replace)))
				assert.NoError(t, upsert(), "mode", c.mode, what)
				e := assert.Must(three.Get(ctx, key))(t)
				if d, ok := e.Value.(*department); !ok || e.Name != "Department" || d.EmployeeCount != 2 {
					t.Errorf("mode %v, %s: %T, %+v", c.mode, what, e.Value, e)
				}
				row, err := maps.Get(ctx, key)
				if _, kept := row.Value["FirstName"]; kept != c.kept || err != nil {
					t.Errorf("mode %v, %s: the property of the former type is kept: %v, %v", c.mode, what, kept, err)
				}
			}
		}
		for what, err := range map[string]error{
			"alone":            assert.ErrorOf(three.Upsert(ctx, key, &department{}, 7)),
			"in a transaction": assert.ErrorOf(three.Transaction().Upsert(key, &department{}, 7).Commit(ctx)),
		} {
			assert.Failed(t, err, "invalid mode", what, "no error")
		}
	})
}

func TestAnUpdateWritesTheNewestVersion(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		one, three := newTables(t, b, opts)
		key := sales("Employee_1")
		assert.NoError(t, assert.ErrorOf(one.Insert(ctx, key, &employee1{"Ken Kwok", "kenk@contoso.com"})))
		b.ResetRequests()
		updated, err := three.Update(ctx, key, func(e entitytype.Entity) error {
			assert.Equal(t, e.Name, "Employee")
			assert.Equal(t, e.Version, 1)
			e.Value.(*employee3).LastName = "Quirk"
			return nil
		})
		assert.NoError(t, err)
		b.WantRequestCount(t, 2)
		assert.Equal(t, updated.Version, 3)
		assert.Equal(t, updated.Value.(*employee3).LastName, "Quirk")
		e, err := three.Get(ctx, key)
		if err != nil || e.Version != 3 || e.ETag != updated.ETag || e.Value.(*employee3).LastName != "Quirk" {
			t.Fatalf("got %+v, %v", e, err)
		}
		row, err := properties(t, three).Get(ctx, key)
		if _, found := row.Value["Name"]; found || err != nil {
			t.Errorf("a property that only version 1 has is still stored: %v, %v", row.Value, err)
		}
	})
}

func TestAnUpdateKeepsUnknownProperties(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		_, three := newTables(t, b, opts)
		key := sales("Department_1")
		assert.NoError(t, assert.ErrorOf(three.Insert(ctx, key, &department{"Sales", 1})))
		maps := properties(t, three)
		assert.NoError(t, assert.ErrorOf(maps.Do(ctx, patterns.UpsertOp(&map[string]any{"Budget": 2.0}, patterns.Merge).At(key))))
		assert.NoError(t, assert.ErrorOf(three.Update(ctx, key, func(e entitytype.Entity) error { e.Value.(*department).EmployeeCount++; return nil })))
		row, err := maps.Get(ctx, key)
		if err != nil || row.Value["Budget"] != 2.0 || row.Value["EmployeeCount"] != int64(2) {
			t.Errorf("got %v, %v", row.Value, err)
		}
	})
}

func TestWritesRefuseInvalidValuesBeforeARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		_, table := newTables(t, b, nil)
		_, keyed := newTables(t, b, &entitytype.RegistryOptions{ByRowKey: true})
		b.ResetRequests()
		var none *employee3
		for _, c := range []struct {
			what      string
			err, want error
		}{
			{"nil", assert.ErrorOf(table.Insert(ctx, sales("1"), nil)), patterns.ErrNil},
			{"nil pointer", assert.ErrorOf(table.Insert(ctx, sales("1"), none)), patterns.ErrNil},
			{"not a pointer", assert.ErrorOf(table.Insert(ctx, sales("1"), employee3{})), entitytype.ErrUnknownType},
			{"unregistered", assert.ErrorOf(table.Insert(ctx, sales("1"), &struct{ A int }{})), entitytype.ErrUnknownType},
			{"key with a slash", assert.ErrorOf(table.Insert(ctx, sales("a/b"), &employee3{})), patterns.ErrBadKey},
			{"key of another type", assert.ErrorOf(keyed.Insert(ctx, sales("Department_1"), &employee3{})), entitytype.ErrWrongKey},
			{"not read", assert.ErrorOf(table.Replace(ctx, entitytype.Entity{Item: patterns.Item[any]{Key: sales("1"), ETag: azcore.ETagAny, Value: &employee3{}}})), entitytype.ErrOtherType},
			{"in a transaction", assert.ErrorOf(table.Transaction().Insert(sales("1"), nil).Delete(sales("2"), "").Commit(ctx)), patterns.ErrNil},
			{"nil function", assert.ErrorOf(table.Update(ctx, sales("1"), nil)), patterns.ErrNil},
		} {
			assert.WantError(t, c.err, c.want, c.what)
		}
		b.WantRequestCount(t, 0)
	})
}

// With stamps each write finds out that it was applied although its reply was lost, whatever the type;
// without, only an Upsert does.
func TestOnlyStampsShowThatALostWriteWasApplied(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		for _, stamped := range []bool{false, true} {
			one, three := newTablesWith(t, b, opts, &entitytype.Options{StampWrites: stamped})
			unknown := func(text string) *entitytype.Unknown {
				u := &entitytype.Unknown{Properties: map[string]any{"EntityType": "7", "S": text}}
				if opts == nil {
					u.Properties["EntityType"] = "Contractor:7"
				}
				return u
			}
			insert(t, three, map[string]any{"Department_1": &department{"Sales", 1}, "Contractor_1": unknown("x")})
			insert(t, one, map[string]any{"Employee_1": &employee1{Name: "Ken Kwok"}})
			get := func(row string) entitytype.Entity { return assert.Must(three.Get(t.Context(), sales(row)))(t) }
			change := func(e entitytype.Entity) error {
				switch v := e.Value.(type) {
				case *department:
					v.EmployeeCount++
				case *employee3:
					v.FirstName += "n"
				case *entitytype.Unknown:
					v.Properties["S"] = v.Properties["S"].(string) + "y"
				}
				return nil
			}
			changed := func(row string) entitytype.Entity {
				e := get(row)
				assert.NoError(t, change(e))
				return e
			}
			lost := func(what, op string, write func() error) {
				t.Helper()
				b.Fault(storagetest.On(op).Nth(1).LoseReply())
				err := write()
				b.ClearFaults()
				if stamped != (err == nil) || !stamped && !errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("%s, stamped %v: %v", what, stamped, err)
				}
			}
			for i, row := range []string{"Department_1", "Contractor_1", "Employee_1"} {
				value := []any{&department{"New", 1}, unknown("new"), &employee3{FirstName: "New"}}[i]
				lost("insert", "Table.Insert", func() error { return assert.ErrorOf(three.Insert(t.Context(), sales(row+"0"), value)) })
				lost("replace", "Table.Replace", func() error { return assert.ErrorOf(three.Replace(t.Context(), changed(row))) })
				lost("merge", "Table.Merge", func() error { return assert.ErrorOf(three.Merge(t.Context(), changed(row))) })
				lost("update", "Table.Replace", func() error { return assert.ErrorOf(three.Update(t.Context(), sales(row), change)) })
				lost("transaction", "Table.Batch", func() error {
					return assert.ErrorOf(three.Transaction().Replace(changed(row)).Insert(sales(row+"1"), value).Commit(t.Context()))
				})
			}
			if d := get("Department_1").Value.(*department); d.EmployeeCount != 5 {
				t.Errorf("after 4 changes: %+v", d)
			}
			if u := get("Contractor_1").Value.(*entitytype.Unknown); u.Properties["S"] != "xyyyy" {
				t.Errorf("after 4 changes: %+v", u)
			}
			if e := get("Employee_1").Value.(*employee3); e.FirstName != "Kennnnn" || e.LastName != "Kwok" {
				t.Errorf("after 4 changes: %+v", e)
			}
			for row := range map[string]bool{"Department_1": true, "Contractor_1": true, "Employee_1": true} {
				stored := assert.Must(three.Client().GetEntity(t.Context(), "Sales", row, nil))(t)
				assert.Equal(t, strings.Contains(string(stored.Value), `"azp_stamp"`), stamped, row, "stamped", stored.Value)
			}
		}
	})
}
