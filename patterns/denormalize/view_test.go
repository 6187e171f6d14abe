package denormalize_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type employee struct {
	Department   string `table:"PartitionKey"`
	ID           string `table:"RowKey"`
	Name         string
	EmailAddress string
	IsManager    bool
	Orders       int64
}

type manager struct{ ManagerName, ManagerEmailAddress string }

// department is the row that receives the properties. DepartmentName is its own.
type department struct {
	DepartmentName      string
	EmployeeCount       int64
	OpenOrders          int64
	ManagerName         *string
	ManagerEmailAddress *string
}

// places are where departments are stored: in the partition of their employees, in another
// partition, or in another table.
var places = map[string]struct {
	at   func(e *employee) keys.Key
	view func(name string, other *aztables.Client, what denormalize.Part[employee]) patterns.View[employee]
}{
	"same partition": {
		func(e *employee) keys.Key { return keys.Key{Partition: e.Department, Row: "Department"} },
		func(name string, _ *aztables.Client, what denormalize.Part[employee]) patterns.View[employee] {
			return denormalize.Intra(name, what, nil)
		},
	},
	"other partition": {
		func(e *employee) keys.Key { return keys.Key{Partition: "departments", Row: e.Department} },
		func(name string, _ *aztables.Client, what denormalize.Part[employee]) patterns.View[employee] {
			return denormalize.Inter(name, nil, what, nil)
		},
	},
	"other table": {
		func(e *employee) keys.Key { return keys.Key{Partition: e.Department, Row: "Department"} },
		func(name string, other *aztables.Client, what denormalize.Part[employee]) patterns.View[employee] {
			return denormalize.Inter(name, other, what, nil)
		},
	},
}

type world struct {
	store       *patterns.Store[employee]
	departments *patterns.Table[department]
	at          keys.Key
	messages    *harness.OutboxQueue
}

func newWorld(client, other *aztables.Client, place string, w *harness.OutboxQueue) (*world, error) {
	p := places[place]
	boss := p.view("manager", other, denormalize.Into(func(e *employee) (keys.Key, manager, bool) {
		return p.at(e), manager{e.Name, e.EmailAddress}, e.IsManager
	}))
	count := p.view("count", other, denormalize.Count("EmployeeCount", func(e *employee) (keys.Key, bool) { return p.at(e), true }))
	orders := p.view("orders", other, denormalize.Sum("OpenOrders", func(e *employee) (keys.Key, int64, bool) { return p.at(e), e.Orders, e.Orders != 0 }))
	table, err1 := patterns.NewTable[employee](client, nil)
	home := client
	if place == "other table" {
		home = other
	}
	departments, err2 := patterns.NewTable(home, &patterns.TableOptions[department]{Keyless: true})
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{boss, count, orders}, Outbox: w})
	return &world{store, departments, p.at(&employee{Department: "Sales"}), w}, err
}

func each(t *testing.T, body func(t *testing.T, b *harness.Backend, w *world)) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for place := range places {
			t.Run(place, func(t *testing.T) {
				w, err := newWorld(b.Table(t), b.Table(t), place, &harness.OutboxQueue{})
				if err != nil {
					t.Fatal(err)
				}
				own := department{DepartmentName: "Sales"}
				if _, err := w.departments.Do(t.Context(), patterns.InsertOp(&own).At(w.at)); err != nil {
					t.Fatal(err)
				}
				body(t, b, w)
			})
		}
	})
}

func (w *world) hire(t testing.TB, e employee) {
	t.Helper()
	e.Department = "Sales"
	if _, err := w.store.Insert(t.Context(), &e); err != nil {
		t.Fatalf("%+v", err)
	}
}

func (w *world) want(t testing.TB, count, orders int64, boss string) {
	t.Helper()
	d, err := w.departments.Get(t.Context(), w.at)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	name := ""
	if d.Value.ManagerName != nil {
		name = *d.Value.ManagerName
	}
	if d.Value.EmployeeCount != count || d.Value.OpenOrders != orders || name != boss || d.Value.DepartmentName != "Sales" {
		t.Errorf("department %+v, manager %q; want %d employees, %d orders, manager %q", d.Value, name, count, orders, boss)
	}
}

func key(id string) keys.Key { return keys.Key{Partition: "Sales", Row: id} }

func TestADepartmentIsUpdatedWithItsEmployees(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world) {
		ctx := t.Context()
		w.hire(t, employee{ID: "1", Name: "Ken", EmailAddress: "k@contoso.com", IsManager: true, Orders: 3})
		w.hire(t, employee{ID: "2", Name: "Ann", Orders: 4})
		w.want(t, 2, 7, "Ken")

		if _, err := w.store.Update(ctx, key("1"), func(e *employee) error { e.Name, e.Orders = "Kenneth", 1; return nil }); err != nil {
			t.Fatalf("%+v", err)
		}
		w.want(t, 2, 5, "Kenneth")

		// A department has one manager.
		if _, err := w.store.Update(ctx, key("2"), func(e *employee) error { e.IsManager = true; return nil }); w.messages.Len() == 0 {
			var d *patterns.DuplicateError
			if !errors.As(err, &d) || d.View != "manager" {
				t.Errorf("second manager: %v", err)
			}
			w.want(t, 2, 5, "Kenneth")
		}
		if _, err := w.store.Update(ctx, key("2"), func(e *employee) error { e.IsManager = false; return nil }); err != nil {
			t.Fatalf("%+v", err)
		}
		if err := w.store.Delete(ctx, key("1")); err != nil {
			t.Fatalf("%+v", err)
		}
		w.want(t, 1, 4, "")
		if err := w.store.Delete(ctx, key("2")); err != nil {
			t.Fatalf("%+v", err)
		}
		w.want(t, 0, 0, "")
	})
}

func TestCountsNeverDrift(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world) {
		defer b.ClearFaults()
		for _, op := range []string{"Table.Batch", "Table.Insert", "Table.Replace", "Table.Merge", "Table.Delete"} {
			b.Fault(storagetest.On(op).Probability(0.15).LoseReply())
		}
		const writers, each = 3, 3
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for j := range each {
					e := &employee{Department: "Sales", ID: fmt.Sprintf("%d%d", i, j), Orders: int64(j)}
					for {
						_, err := w.store.Insert(t.Context(), e)
						if err == nil || errors.Is(err, patterns.ErrExists) {
							break
						}
						if !errors.Is(err, patterns.ErrConflict) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
							t.Errorf("%+v", err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		b.ClearFaults()
		if err := w.messages.Work(t.Context(), w.store.Handle); err != nil {
			t.Errorf("worker: %+v", err)
		}
		w.want(t, writers*each, writers*(0+1+2), "")
	})
}

// After a crash at any request the worker makes the department what its employees imply.
func TestTheWorkerRepairsACrashAnywhere(t *testing.T) {
	for place := range places {
		t.Run(place, func(t *testing.T) {
			var w *harness.OutboxQueue // outlives the process; the runs come one after the other
			open := func(acct *storagetest.Account) (*world, error) {
				return newWorld(acct.Tables().NewClient("Staff"), acct.Tables().NewClient("Departments"), place, w)
			}
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				w = &harness.OutboxQueue{}
				acct.Tables().NewClient("Staff").CreateTable(ctx, nil)
				acct.Tables().NewClient("Departments").CreateTable(ctx, nil)
				world, err := open(acct)
				if err != nil {
					return err
				}
				own := department{DepartmentName: "Sales"}
				if _, err := world.departments.Do(ctx, patterns.InsertOp(&own).At(world.at)); err != nil {
					return err
				}
				acct.Arm()
				if _, err := world.store.Insert(ctx, &employee{Department: "Sales", ID: "1", Name: "Ken", IsManager: true, Orders: 2}); err != nil {
					return err
				}
				if _, err := world.store.Insert(ctx, &employee{Department: "Sales", ID: "2", Name: "Ann", Orders: 5}); err != nil {
					return err
				}
				if _, err := world.store.Update(ctx, key("2"), func(e *employee) error { e.Orders = 1; return nil }); err != nil {
					return err
				}
				return world.store.Delete(ctx, key("1"))
			}, func(t *testing.T, acct *storagetest.Account) {
				world, err := open(acct)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Work(t.Context(), world.store.Handle); err != nil {
					t.Fatalf("worker: %+v", err)
				}
				var count, orders int64
				boss := ""
				for _, id := range []string{"1", "2"} {
					item, err := world.store.Get(t.Context(), key(id))
					if errors.Is(err, patterns.ErrNotFound) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					count++
					orders += item.Value.Orders
					if item.Value.IsManager {
						boss = item.Value.Name
					}
				}
				world.want(t, count, orders, boss)
			})
		})
	}
}

// A department in the partition of its employees refuses a second manager. Elsewhere the
// second one is stored, and OnPending receives the error. Once the first is no longer the
// manager, a repair stores the second one's properties.
func TestASecondManagerIsRefusedOrReported(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, p := range places {
			t.Run(name, func(t *testing.T) {
				client, home := b.Table(t), b.Table(t)
				boss := p.view("manager", home, denormalize.Into(func(e *employee) (keys.Key, manager, bool) {
					return p.at(e), manager{e.Name, e.EmailAddress}, e.IsManager
				}))
				if name != "other table" {
					home = client
				}
				var pending error
				store := harness.NewStore(t, client, &patterns.StoreOptions[employee]{
					Views: []patterns.View[employee]{boss}, Outbox: &harness.OutboxQueue{},
					OnPending: func(_ context.Context, _ keys.Key, err error) { pending = err },
				})
				if _, err := store.Insert(t.Context(), &employee{Department: "Sales", ID: "1", Name: "Ken", IsManager: true}); err != nil {
					t.Fatal(err)
				}
				_, err := store.Insert(t.Context(), &employee{Department: "Sales", ID: "2", Name: "Mary", IsManager: true})
				if name == "same partition" {
					err, pending = pending, err
				}
				var duplicate *patterns.DuplicateError
				if !errors.As(pending, &duplicate) || duplicate.View != "manager" || err != nil {
					t.Fatalf("got %v, and %v", pending, err)
				}
				if name == "same partition" {
					return
				}
				if _, err := store.Update(t.Context(), key("1"), func(e *employee) error { e.IsManager = false; return nil }); err != nil {
					t.Fatal(err)
				}
				if err := store.Repair(t.Context(), key("2")); err != nil {
					t.Fatal(err)
				}
				departments := harness.NewTable(t, home, &patterns.TableOptions[department]{Keyless: true})
				d, err := departments.Get(t.Context(), p.at(&employee{Department: "Sales"}))
				if err != nil || d.Value.ManagerName == nil || *d.Value.ManagerName != "Mary" {
					t.Errorf("department %+v, %v", d.Value, err)
				}
			})
		}
	})
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	none := func(*employee) (keys.Key, bool) { return keys.Key{}, false }
	acct := storagetest.New(t)
	refuse := func(what string, part denormalize.Part[employee]) error {
		table := harness.NewTable[employee](t, acct.Tables().NewClient("Staff"), nil)
		refused := func(view patterns.View[employee]) error {
			_, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{view}, Outbox: &harness.OutboxQueue{}})
			var v *patterns.ViewError
			if !errors.As(err, &v) || v.View != "n" || !errors.Is(err, patterns.ErrBadView) {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := view.Engine(); err == nil {
				t.Errorf("%s: declared without an error", what)
			}
			return err
		}
		intra, inter := refused(denormalize.Intra("n", part, nil)), refused(denormalize.Inter("n", nil, part, nil))
		if fmt.Sprint(intra) != fmt.Sprint(inter) {
			t.Errorf("%s: %v, but %v", what, intra, inter)
		}
		return intra
	}
	for what, c := range map[string]struct {
		part denormalize.Part[employee]
		want error
	}{
		"no part":       {denormalize.Part[employee]{}, patterns.ErrNil},
		"no function":   {denormalize.Into[employee, manager](nil), patterns.ErrNil},
		"no count":      {denormalize.Count[employee]("N", nil), patterns.ErrNil},
		"no sum":        {denormalize.Sum[employee]("N", nil), patterns.ErrNil},
		"no properties": {denormalize.Into(func(*employee) (k keys.Key, s struct{}, ok bool) { return }), patterns.ErrBadView},
	} {
		if err := refuse(what, c.part); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
	}
	for _, name := range []string{"", "two words", "azp_count", "1st", "PartitionKey", "RowKey", "Timestamp", "odata.etag", "N@odata.type"} {
		var p *patterns.PropertyError
		if err := refuse(name, denormalize.Count(name, none)); !errors.As(err, &p) {
			t.Errorf("property %q: %v", name, err)
		}
	}
	refuse("a field that cannot be stored", denormalize.Into(func(*employee) (k keys.Key, s struct{ C chan int }, ok bool) { return }))
	if n := len(acct.Log()); n != 0 {
		t.Errorf("%d requests", n)
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table, _ := patterns.NewTable[employee](b.Table(t), nil)
		elsewhere := denormalize.Inter("c", nil, denormalize.Count("N", none), nil)
		if _, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{elsewhere}}); !errors.Is(err, patterns.ErrBadView) {
			t.Errorf("remote count without an outbox: %v", err)
		}
		// With Existing, an employee of a missing department is refused.
		department := denormalize.Count("N", func(e *employee) (keys.Key, bool) { return key("Department"), true })
		existing := denormalize.Intra("c", department, &denormalize.Options{Existing: true})
		store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{existing}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Insert(t.Context(), &employee{Department: "Sales", ID: "1"}); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("stored without its department: %v", err)
		}
		if _, err := store.Get(t.Context(), key("1")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("half an operation: %v", err)
		}
	})
}

func TestPropertiesAndOptionsArePartOfTheDefinition(t *testing.T) {
	at := func(e *employee) (keys.Key, bool) { return key(e.ID), true }
	count := func(property string, opts *denormalize.Options) patterns.View[employee] {
		return denormalize.Intra("count", denormalize.Count(property, at), opts)
	}
	into := denormalize.Intra("count", denormalize.Into(func(e *employee) (keys.Key, manager, bool) { return key(e.ID), manager{}, true }), nil)
	seen := map[string]string{}
	for what, v := range map[string]patterns.View[employee]{
		"count": count("Count", nil), "property": count("Number", nil), "into": into,
		"existing": count("Count", &denormalize.Options{Existing: true}), "version": count("Count", &denormalize.Options{Version: "2"}),
	} {
		version := assert.Must(v.Engine())(t).Shape.Version
		if other, twice := seen[version]; twice {
			t.Errorf("%s and %s have the version %s", what, other, version)
		}
		seen[version] = what
	}
}
