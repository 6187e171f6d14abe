package entitytype_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

func TestAQueryReturnsValuesOfAllTypesAndVersions(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		one, three := newTables(t, b, opts)
		insert(t, one, map[string]any{"Employee_1": &employee1{"Ken Kwok", "kenk@contoso.com"}})
		insert(t, three, map[string]any{
			"Employee_2":  &employee3{"Ann", "Beebe", []string{"a@contoso.com"}},
			"Department_": &department{"Sales", 1 << 40},
		})
		b.ResetRequests()
		var names []string
		for e, err := range three.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			assert.NoError(t, err)
			switch v := e.Value.(type) {
			case *employee3:
				names = append(names, v.FirstName+" "+v.LastName+" "+v.Emails[0])
			case *department:
				names = append(names, v.DepartmentName)
			default:
				t.Errorf("got a %T", v)
			}
		}
		want := []string{"Sales", "Ken Kwok kenk@contoso.com", "Ann Beebe a@contoso.com"}
		assert.DeepEqual(t, names, want)
		b.WantRequestCount(t, 1)
	})
}

func TestRowKeysSelectOneType(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		_, three := newTables(t, b, &entitytype.RegistryOptions{ByRowKey: true})
		insert(t, three, map[string]any{
			"Department_": &department{"Sales", 1}, "Employee_": &employee3{FirstName: "a"}, "Employee_2_x": &employee3{FirstName: "b"},
			"EmployeeX_1": &entitytype.Unknown{}, "Employee": &entitytype.Unknown{},
		})
		got := ""
		b.ResetRequests()
		for e, err := range three.Query(ctx, query.And(query.PartitionKey.Eq("Sales"), query.RowKey.Within(entitytype.RowKeys("Employee"))), nil) {
			assert.NoError(t, err)
			got += e.Value.(*employee3).FirstName
		}
		if n := len(b.Requests()); got != "ab" || n != 1 {
			t.Errorf("got %q with %d requests", got, n)
		}
	})
}

func TestPagesContinueFromTheirCursors(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		one, three := newTables(t, b, nil)
		insert(t, one, map[string]any{"1": &employee1{"Ken Kwok", ""}, "3": &employee1{"Ann Beebe", ""}})
		insert(t, three, map[string]any{"2": &department{"Sales", 1}, "4": &entitytype.Unknown{}, "5": &department{"Sales", 5}})
		b.ResetRequests()
		var got []string
		pages, cursor := 0, ""
		for {
			page := assert.Must(three.Page(t.Context(), query.PartitionKey.Eq("Sales"), cursor, &patterns.QueryOptions{PageSize: 2}))(t)
			for _, e := range page.Items {
				got = append(got, e.Key.Row+reflect.TypeOf(e.Value).String())
			}
			pages++
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
		want := []string{"1*entitytype_test.employee3", "2*entitytype_test.department", "3*entitytype_test.employee3", "4*entitytype.Unknown", "5*entitytype_test.department"}
		assert.DeepEqual(t, got, want)
		if n := len(b.Requests()); pages != 3 || n != 3 {
			t.Errorf("%d pages with %d requests, want 3 and 3", pages, n)
		}
		assert.WantError(t, assert.ErrorOf(three.Page(t.Context(), query.PartitionKey.Eq("Sales"), "x", nil)), patterns.ErrBadCursor, "damaged cursor")
	})
}

func TestTheZeroTableReturnsErrNil(t *testing.T) {
	ctx, key := t.Context(), sales("1")
	var table entitytype.Table
	_, query1 := func() (entitytype.Entity, error) {
		for e, err := range table.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			return e, err
		}
		return entitytype.Entity{}, nil
	}()
	for what, err := range map[string]error{
		"Get":              assert.ErrorOf(table.Get(ctx, key)),
		"Query":            query1,
		"Page":             assert.ErrorOf(table.Page(ctx, query.PartitionKey.Eq("Sales"), "", nil)),
		"Insert":           assert.ErrorOf(table.Insert(ctx, key, &department{})),
		"Upsert":           assert.ErrorOf(table.Upsert(ctx, key, &department{}, patterns.Merge)),
		"Replace":          assert.ErrorOf(table.Replace(ctx, entitytype.Entity{})),
		"Merge":            assert.ErrorOf(table.Merge(ctx, entitytype.Entity{})),
		"Delete":           table.Delete(ctx, key, ""),
		"Create":           table.Create(ctx),
		"Update":           assert.ErrorOf(table.Update(ctx, key, func(entitytype.Entity) error { return nil })),
		"Transaction":      assert.ErrorOf(table.Transaction().Insert(key, &department{}).Delete(key, "").Commit(ctx)),
		"zero Transaction": assert.ErrorOf(new(entitytype.Transaction).Delete(key, "").Commit(ctx)),
		"nil client":       assert.ErrorOf(entitytype.New(nil, newRegistry(t, nil), nil)),
		"nil registry":     assert.ErrorOf(entitytype.New(&aztables.Client{}, nil, nil)),
		"zero registry":    assert.ErrorOf(entitytype.New(&aztables.Client{}, &entitytype.Registry{}, nil)),
	} {
		assert.WantError(t, err, patterns.ErrNil, what, "want ErrNil")
	}
}

func TestCreate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		b.WantCreate(t, func(client *aztables.Client) func(context.Context) error {
			return assert.Must(entitytype.New(client, newRegistry(t, nil), nil))(t).Create
		})
	})
}
