package entitytype_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

// The structs of a program that uses aztables alone. The names of the types have no version.
type (
	handEmployee struct {
		aztables.Entity
		PersonType string `json:",omitempty"`
		EntityType string `json:",omitempty"`
		FirstName  string
		LastName   string
		Department string
		EmployeeID string
	}
	handCustomer struct {
		aztables.Entity
		PersonType string
		FirstName  string
		LastName   string
		Address    string
		Phone      string
	}
)

// The structs of the same entities in the new program.
type (
	person struct {
		FirstName, LastName string
		Department          string
		EmployeeID          string
	}
	customer struct {
		FirstName, LastName string
		Address, Phone      string
	}
)

func addByHand(t testing.TB, client *aztables.Client, v any) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), assert.Must(json.Marshal(v))(t), nil)))
}

func readByHand[V any](t testing.TB, client *aztables.Client, row string) (v V) {
	t.Helper()
	resp, err := client.GetEntity(t.Context(), "Sales", row, nil)
	if err == nil {
		err = json.Unmarshal(resp.Value, &v)
	}
	assert.NoError(t, err)
	return v
}

// newStaff returns a Table for rows that other programs write without a version.
func newStaff(t testing.TB, client *aztables.Client, property string) *entitytype.Table {
	t.Helper()
	r := newRegistry(t, &entitytype.RegistryOptions{Property: property, Unversioned: 1})
	assert.NoError(t, errors.Join(
		entitytype.Register[person](r, "Employee", 1, nil),
		entitytype.Register[customer](r, "Customer", 1, nil)))
	return assert.Must(entitytype.New(client, r, nil))(t)
}

func TestRowsWhoseTypeHasNoVersionAreReadChangedAndReadByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		key := func(row string) aztables.Entity { return aztables.Entity{PartitionKey: "Sales", RowKey: row} }
		addByHand(t, client, handCustomer{Entity: key("annb@contoso.com"), PersonType: "Customer", FirstName: "Ann", LastName: "Beebe", Phone: "1"})
		addByHand(t, client, handEmployee{Entity: key("kenk@contoso.com"), PersonType: "Employee", FirstName: "Ken", LastName: "Kwok", EmployeeID: "000123"})
		staff := newStaff(t, client, "PersonType")

		var employees, customers int
		for e, err := range staff.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			assert.NoError(t, err)
			switch v := e.Value.(type) {
			case *person:
				employees++
				if v.EmployeeID != "000123" || e.Name != "Employee" || e.Version != 1 {
					t.Errorf("employee: %+v, stored as %s:%d", *v, e.Name, e.Version)
				}
			case *customer:
				customers++
			default:
				t.Errorf("%s is a %T", e.Key.Row, v)
			}
		}
		assert.Equal(t, employees, 1)
		assert.Equal(t, customers, 1)
		b.ResetRequests()
		_, err := staff.Update(ctx, sales("kenk@contoso.com"), func(e entitytype.Entity) error {
			e.Value.(*person).LastName = "Quock"
			return nil
		})
		assert.NoError(t, err)
		b.WantRequestCount(t, 2)
		assert.NoError(t, assert.ErrorOf(staff.Insert(ctx, sales("donh@contoso.com"), &person{FirstName: "Don", LastName: "Hall"})))
		b.WantRequestCount(t, 1)
		if ken := readByHand[handEmployee](t, client, "kenk@contoso.com"); ken.PersonType != "Employee" || ken.LastName != "Quock" || ken.EmployeeID != "000123" {
			t.Errorf("changed: %+v", ken)
		}
		if don := readByHand[handEmployee](t, client, "donh@contoso.com"); don.PersonType != "Employee" || don.LastName != "Hall" {
			t.Errorf("inserted: %+v", don)
		}
	})
}

func TestAnUnversionedNameIsTheGivenVersion(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addByHand(t, client, handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "000123"}, EntityType: "Employee", FirstName: "Ken"})
		// With the default options the name alone is not a type.
		one, _ := newTables(t, b, nil)
		assert.NoError(t, assert.ErrorOf(one.Insert(ctx, sales("default"), &employee1{Name: "Ann"})))
		assert.Equal(t, readByHand[handEmployee](t, one.Client(), "default").EntityType, "Employee:1", "by default")
		r := newRegistry(t, &entitytype.RegistryOptions{Unversioned: 2})
		assert.NoError(t, errors.Join(
			entitytype.Register(r, "Employee", 2, from2),
			entitytype.Register[employee3](r, "Employee", 3, nil)))
		staff := assert.Must(entitytype.New(client, r, nil))(t)
		e := assert.Must(staff.Get(ctx, sales("000123")))(t)
		if v, ok := e.Value.(*employee3); !ok || v.FirstName != "Ken" || e.Name != "Employee" || e.Version != 2 {
			t.Fatalf("%+v, stored as %s:%d", e.Value, e.Name, e.Version)
		}
		// A later version needs its number; the given one is written without.
		assert.Must(staff.Replace(ctx, e))(t)
		assert.Must(staff.Insert(ctx, sales("2"), &employee2{FirstName: "Ann"}))(t)
		for row, want := range map[string]string{"000123": "Employee:3", "2": "Employee"} {
			assert.Equal(t, readByHand[handEmployee](t, client, row).EntityType, want, row)
		}
		// A name that no type can have is not a type, nor is a row without the property.
		for row, name := range map[string]string{"4": "Head of sales", "5": ""} {
			addByHand(t, client, handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: row}, EntityType: name, FirstName: "x"})
			if e := assert.Must(staff.Get(ctx, sales(row)))(t); e.Name != "" || e.Version != 0 {
				t.Errorf("%q is %s:%d", name, e.Name, e.Version)
			}
		}
		// Both forms of the given version are read.
		addByHand(t, client, handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "3"}, EntityType: "Employee:2"})
		assert.Equal(t, assert.Must(staff.Get(ctx, sales("3")))(t).Version, 2)
	})
}

func TestATypeInTheRowKeyNeedsNoProperty(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addByHand(t, client, handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "EMPLOYEE_000123"}, FirstName: "Ken"})
		r := newRegistry(t, &entitytype.RegistryOptions{ByRowKey: true, Unversioned: 2})
		assert.NoError(t, entitytype.Register[person](r, "EMPLOYEE", 2, nil))
		staff := assert.Must(entitytype.New(client, r, nil))(t)
		e := assert.Must(staff.Get(ctx, sales("EMPLOYEE_000123")))(t)
		if v, ok := e.Value.(*person); !ok || v.FirstName != "Ken" || e.Version != 2 {
			t.Fatalf("%+v, version %d", e.Value, e.Version)
		}
		assert.Must(staff.Replace(ctx, e))(t)
		if ken := readByHand[handEmployee](t, client, "EMPLOYEE_000123"); ken.FirstName != "Ken" || ken.EntityType != "2" {
			t.Errorf("replaced: %+v", ken)
		}
	})
}

func TestNewRegistryRefusesANegativeVersion(t *testing.T) {
	assert.WantError(t, assert.ErrorOf(entitytype.NewRegistry(&entitytype.RegistryOptions{Unversioned: -1})), patterns.ErrBadOption)
}
