package entitytype_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Three releases of a program.
type (
	employee1 struct {
		Name         string
		EmailAddress string
	}
	employee2 struct {
		FirstName, LastName string
		EmailAddress        string
	}
	employee3 struct {
		FirstName, LastName string
		Emails              []string `table:",json"`
	}
	department struct {
		DepartmentName string
		EmployeeCount  int64
	}
)

func from1(e employee1) (any, error) {
	first, last, ok := strings.Cut(e.Name, " ")
	if !ok {
		return nil, errors.New("no last name")
	}
	return employee2{first, last, e.EmailAddress}, nil
}

func from2(e employee2) (any, error) {
	return &employee3{e.FirstName, e.LastName, []string{e.EmailAddress}}, nil
}

// release gives a table as the program of that release sees it.
func release(t testing.TB, b *testbed.Backend, opts *entitytype.Options) (one, three *entitytype.Table) {
	t.Helper()
	client := b.Table(t)
	old, now := entitytype.NewRegistry(opts), entitytype.NewRegistry(opts)
	err := errors.Join(
		entitytype.Register[employee1](old, "Employee", 1, nil),
		entitytype.Register[department](old, "Department", 1, nil),
		entitytype.Register(now, "Employee", 1, from1),
		entitytype.Register(now, "Employee", 2, from2),
		entitytype.Register[employee3](now, "Employee", 3, nil),
		entitytype.Register[department](now, "Department", 1, nil),
	)
	one, err1 := entitytype.New(client, old)
	three, err3 := entitytype.New(client, now)
	if err := errors.Join(err, err1, err3); err != nil {
		t.Fatal(err)
	}
	return one, three
}

func sales(row string) keys.Key { return keys.Key{Partition: "Sales", Row: row} }

func both(t *testing.T, body func(t *testing.T, b *testbed.Backend, opts *entitytype.Options)) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		t.Run("by property", func(t *testing.T) { body(t, b, nil) })
		t.Run("by row key", func(t *testing.T) { body(t, b, &entitytype.Options{ByRowKey: true}) })
	})
}

func TestOneQueryGivesValuesOfAllTypesAndVersions(t *testing.T) {
	both(t, func(t *testing.T, b *testbed.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		one, three := release(t, b, opts)
		if _, err := one.Insert(ctx, sales("Employee_1"), &employee1{"Ken Kwok", "kenk@contoso.com"}); err != nil {
			t.Fatal(err)
		}
		if _, err := three.Insert(ctx, sales("Employee_2"), &employee3{"Ann", "Beebe", []string{"a@contoso.com"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := three.Insert(ctx, sales("Department_"), &department{"Sales", 1 << 40}); err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		var names []string
		for e, err := range three.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			if err != nil {
				t.Fatal(err)
			}
			switch v := e.Value.(type) {
			case *employee3:
				names = append(names, v.FirstName+" "+v.LastName+" "+v.Emails[0])
			case *department:
				names = append(names, v.DepartmentName)
			default:
				t.Errorf("a %T", v)
			}
		}
		want := []string{"Sales", "Ken Kwok kenk@contoso.com", "Ann Beebe a@contoso.com"}
		if !reflect.DeepEqual(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
		if n := len(b.Requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

func TestAnOldRowIsWrittenBackInTheNewestVersion(t *testing.T) {
	both(t, func(t *testing.T, b *testbed.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		one, three := release(t, b, opts)
		key := sales("Employee_1")
		if _, err := one.Insert(ctx, key, &employee1{"Ken Kwok", "kenk@contoso.com"}); err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		err := three.Update(ctx, key, func(e entitytype.Entity) error {
			if e.Name != "Employee" || e.Version != 1 {
				t.Errorf("stored as %s version %d", e.Name, e.Version)
			}
			e.Value.(*employee3).LastName = "Quirk"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(b.Requests()); n != 2 {
			t.Errorf("update: %d requests, want 2", n)
		}
		e, err := three.Get(ctx, key)
		if err != nil || e.Version != 3 || e.Value.(*employee3).LastName != "Quirk" {
			t.Fatalf("got %+v, %v", e, err)
		}
		// The property of version 1 that version 2 replaced is gone.
		bags, _ := patterns.NewTable[map[string]any](three.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
		bag, err := bags.Get(ctx, key)
		if _, left := bag.Value["Name"]; left || err != nil {
			t.Errorf("left over: %v, %v", bag.Value, err)
		}
	})
}

func TestAnUnknownTypeKeepsEveryPropertyAndItsType(t *testing.T) {
	both(t, func(t *testing.T, b *testbed.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		_, three := release(t, b, opts)
		key := sales("Contractor_1")
		stored := map[string]any{
			"EntityType": "7", "S": "x", "B": true, "I": int32(3), "L": int64(3), "D": 3.0, "T": time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC),
			"X": []byte{1, 2}, "G": [16]byte{9},
		}
		if opts == nil {
			stored["EntityType"] = "Contractor:7"
		}
		if _, err := three.Insert(ctx, key, &entitytype.Unknown{Properties: stored}); err != nil {
			t.Fatal(err)
		}
		err := three.Update(ctx, key, func(e entitytype.Entity) error {
			u, ok := e.Value.(*entitytype.Unknown)
			if !ok || e.Name != "Contractor" || e.Version != 7 {
				t.Fatalf("got %T, %s version %d", e.Value, e.Name, e.Version)
			}
			u.Properties["I"] = u.Properties["I"].(int32) + 1
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := three.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
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

func TestPropertiesWithoutAFieldSurviveAnUpdate(t *testing.T) {
	both(t, func(t *testing.T, b *testbed.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		_, three := release(t, b, opts)
		key := sales("Department_1")
		if _, err := three.Insert(ctx, key, &department{"Sales", 1}); err != nil {
			t.Fatal(err)
		}
		bags, _ := patterns.NewTable[map[string]any](three.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
		if _, err := bags.Do(ctx, patterns.UpsertOp(&map[string]any{"Budget": 2.0}, patterns.Merge).At(key)); err != nil {
			t.Fatal(err)
		}
		if err := three.Update(ctx, key, func(e entitytype.Entity) error { e.Value.(*department).EmployeeCount++; return nil }); err != nil {
			t.Fatal(err)
		}
		bag, err := bags.Get(ctx, key)
		if err != nil || bag.Value["Budget"] != 2.0 || bag.Value["EmployeeCount"] != int64(2) {
			t.Errorf("got %v, %v", bag.Value, err)
		}
	})
}

func TestTypesChangeTogetherOrNotAtAll(t *testing.T) {
	both(t, func(t *testing.T, b *testbed.Backend, opts *entitytype.Options) {
		ctx := t.Context()
		_, three := release(t, b, opts)
		if _, err := three.Insert(ctx, sales("Department_1"), &department{"Sales", 1}); err != nil {
			t.Fatal(err)
		}
		d, err := three.Get(ctx, sales("Department_1"))
		if err != nil {
			t.Fatal(err)
		}
		d.Value.(*department).EmployeeCount++
		defer b.ClearFaults()
		b.Fault(fault.On("Table.Batch").Nth(1).LoseReply())
		if _, err := three.Transaction().Insert(sales("Employee_1"), &employee3{FirstName: "Ken"}).Replace(d).Commit(ctx); err != nil {
			t.Fatalf("a lost reply was taken for a failure: %v", err)
		}
		_, err = three.Transaction().Insert(sales("Employee_2"), &employee3{FirstName: "Ann"}).Replace(d).Commit(ctx)
		if !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("stale department: %v", err)
		}
		if _, err := three.Get(ctx, sales("Employee_2")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("half of a transaction: %v", err)
		}
		if _, err := three.Transaction().Merge(d).Delete(sales("Employee_1"), "").Commit(ctx); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("stale merge: %v", err)
		}
		if err := three.Delete(ctx, sales("Employee_1"), ""); err != nil {
			t.Error(err)
		}
	})
}

func TestRowsThatCannotBeBroughtUpToDateAreErrors(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		ctx := t.Context()
		one, three := release(t, b, nil)
		if _, err := one.Insert(ctx, sales("1"), &employee1{Name: "Ken"}); err != nil {
			t.Fatal(err)
		}
		if _, err := three.Get(ctx, sales("1")); !errors.Is(err, entitytype.ErrUpcast) {
			t.Errorf("upcaster that fails: %v", err)
		}
		client := b.Table(t)
		for name, up := range map[string]func(employee1) (any, error){
			"another entity type": func(employee1) (any, error) { return department{}, nil },
			"no registered type":  func(employee1) (any, error) { return 7, nil },
			"nil pointer":         func(employee1) (any, error) { return (*employee2)(nil), nil },
			"the same version":    func(e employee1) (any, error) { return e, nil },
		} {
			r := entitytype.NewRegistry(nil)
			err := errors.Join(entitytype.Register(r, "Employee", 1, up), entitytype.Register[employee2](r, "Employee", 2, nil),
				entitytype.Register[department](r, "Department", 3, nil))
			table, terr := entitytype.New(client, r)
			_, ierr := table.Upsert(ctx, sales("1"), &employee1{Name: "Ken"}, patterns.Replace)
			if err := errors.Join(err, terr, ierr); err != nil {
				t.Fatal(err)
			}
			if _, err := table.Get(ctx, sales("1")); !errors.Is(err, entitytype.ErrUpcast) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A row of the right name whose property has the wrong type.
		bags, _ := patterns.NewTable[map[string]any](three.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
		if _, err := bags.Do(ctx, patterns.InsertOp(&map[string]any{"EntityType": "Department:1", "EmployeeCount": "many"}).At(sales("2"))); err != nil {
			t.Fatal(err)
		}
		var p *patterns.PropertyError
		if _, err := three.Get(ctx, sales("2")); !errors.As(err, &p) || p.Property != "EmployeeCount" {
			t.Errorf("wrong type of a property: %v", err)
		}
	})
}

func TestWhatCannotBeRegisteredIsRefused(t *testing.T) {
	type withProperty struct{ EntityType string }
	type withChannel struct{ C chan int }
	r := entitytype.NewRegistry(nil)
	for _, c := range []struct {
		what      string
		err, want error
	}{
		{"empty name", entitytype.Register[department](r, "", 1, nil), entitytype.ErrBadType},
		{"name with the separator", entitytype.Register[department](r, "a_b", 1, nil), entitytype.ErrBadType},
		{"name with a colon", entitytype.Register[department](r, "a:b", 1, nil), entitytype.ErrBadType},
		{"version 0", entitytype.Register[department](r, "a", 0, nil), entitytype.ErrBadType},
		{"no struct", entitytype.Register[int](r, "a", 1, nil), entitytype.ErrBadType},
		{"field in the way", entitytype.Register[withProperty](r, "a", 1, nil), entitytype.ErrBadType},
		{"good", entitytype.Register[department](r, "a", 1, nil), nil},
		{"name twice", entitytype.Register[employee1](r, "a", 1, nil), entitytype.ErrRegistered},
		{"no registry", entitytype.Register[employee2](nil, "b", 1, nil), patterns.ErrNil},
		{"Go type twice", entitytype.Register[department](r, "b", 1, nil), entitytype.ErrRegistered},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.err, c.want)
		}
	}
	if err := entitytype.Register[withChannel](r, "c", 1, nil); err == nil || !strings.Contains(err.Error(), "C") {
		t.Errorf("field that cannot be stored: %v", err)
	}
}

// A property of such a name would not be stored, or not come back: a row without a type.
func TestTheTypesPropertyHasAName(t *testing.T) {
	client := storagetest.New(t).TablesWith(patterns.Accelerate(nil)).NewClient("Things")
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PartitionKey", "RowKey", "Timestamp", "a b", "1x", "a-b", "odata.etag", "X@odata.type", "azp_type", strings.Repeat("x", 256)} {
		r := entitytype.NewRegistry(&entitytype.Options{Property: name})
		if err := entitytype.Register[department](r, "Department", 1, nil); !errors.Is(err, entitytype.ErrBadType) {
			t.Errorf("register with %.20q: %v", name, err)
		}
		if _, err := entitytype.New(client, r); !errors.Is(err, entitytype.ErrBadType) {
			t.Errorf("new with %.20q: %v", name, err)
		}
	}
	for _, name := range []string{"type", "_", "Größe", strings.Repeat("x", 255)} {
		r := entitytype.NewRegistry(&entitytype.Options{Property: name})
		err := entitytype.Register[department](r, "Department", 1, nil)
		table, nerr := entitytype.New(client, r)
		if err := errors.Join(err, nerr); err != nil {
			t.Fatalf("%.20q: %v", name, err)
		}
		key := sales(name[:1])
		_, err = table.Insert(t.Context(), key, &department{"Sales", 1})
		e, gerr := table.Get(t.Context(), key)
		if d, ok := e.Value.(*department); !ok || d.EmployeeCount != 1 || errors.Join(err, gerr) != nil {
			t.Errorf("%.20q: %T, %v", name, e.Value, errors.Join(err, gerr))
		}
	}
}

func TestWhatCannotBeWrittenIsRefusedBeforeARequest(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		ctx := t.Context()
		_, table := release(t, b, nil)
		_, keyed := release(t, b, &entitytype.Options{ByRowKey: true})
		b.ResetRequests()
		err := func(_ any, err error) error { return err }
		var nobody *employee3
		for _, c := range []struct {
			what      string
			err, want error
		}{
			{"nil", err(table.Insert(ctx, sales("1"), nil)), patterns.ErrNil},
			{"nil pointer", err(table.Insert(ctx, sales("1"), nobody)), patterns.ErrNil},
			{"a value, no pointer", err(table.Insert(ctx, sales("1"), employee3{})), entitytype.ErrUnknownType},
			{"unregistered", err(table.Insert(ctx, sales("1"), &struct{ A int }{})), entitytype.ErrUnknownType},
			{"key with a slash", err(table.Insert(ctx, sales("a/b"), &employee3{})), patterns.ErrBadKey},
			{"key of another type", err(keyed.Insert(ctx, sales("Department_1"), &employee3{})), entitytype.ErrWrongKey},
			{"not read", err(table.Replace(ctx, entitytype.Entity{Key: sales("1"), Value: &employee3{}})), entitytype.ErrOtherType},
			{"in a transaction", err(table.Transaction().Insert(sales("1"), nil).Delete(sales("2"), "").Commit(ctx)), patterns.ErrNil},
			{"nil function", table.Update(ctx, sales("1"), nil), patterns.ErrNil},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: got %v, want %v", c.what, c.err, c.want)
			}
		}
		for _, err := range table.Query(ctx, query.PartitionKey.Eq("Sales"), &patterns.QueryOptions{Select: []string{"A"}}) {
			if !errors.Is(err, patterns.ErrProjected) {
				t.Errorf("selection: %v", err)
			}
		}
		if n := len(b.Requests()); n != 0 {
			t.Errorf("%d requests, want none", n)
		}
	})
}
