package entitytype_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

func TestAnUnknownTypeKeepsItsPropertiesAndTheirTypes(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		_, three := newTables(t, b, opts)
		key := sales("Contractor_1")
		stored := map[string]any{
			"EntityType": "7", "S": "x", "B": true, "I": int32(3), "L": int64(3), "D": 3.0, "T": time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC),
			"X": []byte{1, 2}, "G": [16]byte{9},
		}
		if opts == nil {
			stored["EntityType"] = "Contractor:7"
		}
		inserted, err := three.Insert(ctx, key, &entitytype.Unknown{Properties: stored})
		if err != nil || inserted.Name != "Contractor" || inserted.Version != 7 {
			t.Fatalf("insert returned %+v, %v", inserted, err)
		}
		_, err = three.Update(ctx, key, func(e entitytype.Entity) error {
			u, ok := e.Value.(*entitytype.Unknown)
			if !ok || e.Name != "Contractor" || e.Version != 7 {
				t.Fatalf("got %T, %s version %d", e.Value, e.Name, e.Version)
			}
			u.Properties["I"] = u.Properties["I"].(int32) + 1
			return nil
		})
		assert.NoError(t, err)
		e := assert.Must(three.Get(ctx, key))(t)
		stored["I"] = int32(4)
		got := e.Value.(*entitytype.Unknown).Properties
		for name, want := range stored {
			if tm, ok := want.(time.Time); ok {
				if g, ok := got[name].(time.Time); !ok || !g.Equal(tm) {
					t.Errorf("%s is %v", name, got[name])
				}
			} else if !reflect.DeepEqual(got[name], want) {
				t.Errorf("%s is %v (%T), want %v (%T)", name, got[name], got[name], want, want)
			}
		}
	})
}

func TestARowKeyWithoutATypeIsUnknown(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		_, three := newTables(t, b, &entitytype.RegistryOptions{ByRowKey: true})
		insert(t, three, map[string]any{"Department": &entitytype.Unknown{Properties: map[string]any{"EntityType": "1"}}})
		e, err := three.Get(t.Context(), sales("Department"))
		if _, ok := e.Value.(*entitytype.Unknown); !ok || e.Name != "" || e.Version != 0 || err != nil {
			t.Errorf("got %+v, %v", e, err)
		}
	})
}

func TestARowThatCannotBeDecodedIsAnError(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		one, three := newTables(t, b, nil)
		assert.NoError(t, assert.ErrorOf(one.Insert(ctx, sales("1"), &employee1{Name: "Ken"})))
		assert.WantError(t, assert.ErrorOf(three.Get(ctx, sales("1"))), entitytype.ErrUpcast, "upcaster with an error")
		client := b.Table(t)
		for name, up := range map[string]func(employee1) (any, error){
			"another entity type": func(employee1) (any, error) { return department{}, nil },
			"unregistered type":   func(employee1) (any, error) { return 7, nil },
			"nil pointer":         func(employee1) (any, error) { return (*employee2)(nil), nil },
			"the same version":    func(e employee1) (any, error) { return e, nil },
		} {
			r := newRegistry(t, nil)
			err := errors.Join(entitytype.Register(r, "Employee", 1, up), entitytype.Register[employee2](r, "Employee", 2, nil),
				entitytype.Register[department](r, "Department", 3, nil))
			table, terr := entitytype.New(client, r, nil)
			_, ierr := table.Upsert(ctx, sales("1"), &employee1{Name: "Ken"}, patterns.Replace)
			assert.NoError(t, errors.Join(err, terr, ierr))
			assert.WantError(t, assert.ErrorOf(table.Get(ctx, sales("1"))), entitytype.ErrUpcast, name)
		}
		// A row of the right name whose property has the wrong type.
		maps := properties(t, three)
		assert.NoError(t, assert.ErrorOf(maps.Do(ctx, patterns.InsertOp(&map[string]any{"EntityType": "Department:1", "EmployeeCount": "many"}).At(sales("2")))))
		var p *patterns.PropertyError
		if e, err := three.Get(ctx, sales("2")); !errors.As(err, &p) || p.Property != "EmployeeCount" || e.Value != nil {
			t.Errorf("property of another type: %+v, %v", e, err)
		}
		// The row with the wrong type ends the query before any row of its page.
		for _, err := range three.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			if !errors.As(err, &p) {
				t.Errorf("query of a property of another type: %v", err)
			}
		}
		assert.NoError(t, maps.Delete(ctx, sales("2"), ""))
		insert(t, three, map[string]any{"2": &department{}})
		queried := 0
		for _, err := range three.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			if queried++; !errors.Is(err, entitytype.ErrUpcast) {
				t.Errorf("query: %v", err)
			}
		}
		assert.Equal(t, queried, 1, "the query continued after an error", "pairs")
		assert.WantError(t, assert.ErrorOf(three.Page(ctx, query.PartitionKey.Eq("Sales"), "", nil)), entitytype.ErrUpcast, "page")
	})
}
