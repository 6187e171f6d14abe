package denormalize_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// narrow is a department without fields for what is merged into its row, wide one with them.
type narrow struct {
	Title string
	Edits int32
}

type wide struct {
	Title                     string
	Edits                     int32
	EmployeeCount, OpenOrders int64
	ManagerName               string
}

// unit is what both types of departments have in common.
type unit[T any] interface {
	*T
	edits() *int32
	title() *string
}

func (d *narrow) edits() *int32  { return &d.Edits }
func (d *wide) edits() *int32    { return &d.Edits }
func (d *narrow) title() *string { return &d.Title }
func (d *wide) title() *string   { return &d.Title }

// shared is a world without departments, and the table in which they are.
type shared struct {
	*world
	home *aztables.Client
}

func openShared(t *testing.T, b *harness.Backend, place string) *shared {
	t.Helper()
	client, other := b.Table(t), b.Table(t)
	w := assert.Must(newWorld(client, other, place, &harness.OutboxQueue{}))(t)
	if place != "other table" {
		other = client
	}
	return &shared{w, other}
}

// wantStaff checks what is merged into the department.
func (w *shared) wantStaff(t testing.TB, staff map[string]employee) {
	t.Helper()
	var d department
	row, err := w.departments.Get(t.Context(), w.at)
	if !errors.Is(err, patterns.ErrNotFound) {
		assert.NoError(t, err)
		d = row.Value
	}
	var orders int64
	manager := ""
	for _, e := range staff {
		orders += e.Orders
		if e.IsManager {
			manager = e.Name
		}
	}
	got := ""
	if d.ManagerName != nil {
		got = *d.ManagerName
	}
	if d.EmployeeCount != int64(len(staff)) || d.OpenOrders != orders || got != manager {
		t.Fatalf("department %+v, manager %q; want %d employees, %d orders, manager %q", d, got, len(staff), orders, manager)
	}
}

// units opens a Store of the departments in the rows into which the employees' Store merges.
func units[T any](t *testing.T, w *shared) *patterns.Store[T] {
	t.Helper()
	table := harness.NewTable(t, w.home, &patterns.TableOptions[T]{Key: func(*T) (keys.Key, error) { return w.at, nil }, StampWrites: true})
	return assert.Must(patterns.NewStore(table, nil))(t)
}

// A Store of employees counts them in the rows of departments, which have a Store of their own.
func TestTwoStoresShareTheRowsOfDepartments(t *testing.T) {
	t.Run("narrow", twoStores[narrow, *narrow])
	t.Run("wide", twoStores[wide, *wide])
}

func twoStores[T any, D unit[T]](t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for place := range places {
			t.Run(place, func(t *testing.T) {
				seeds := uint64(1)
				if b.InProcess() {
					seeds = 10
				}
				for seed := range seeds {
					w := openShared(t, b, place)
					departments := units[T](t, w)
					random := rand.New(rand.NewPCG(seed, 3))
					staff := map[string]employee{}
					exists, edits, title := false, int32(0), ""
					for i := range 30 {
						id := fmt.Sprint(random.IntN(3))
						e := employee{Department: "Sales", ID: id, Name: "N" + id, IsManager: id == "0" && random.IntN(2) == 0, Orders: random.Int64N(3)}
						value := new(T)
						*D(value).title() = fmt.Sprint("T", i)
						var err, want error
						switch random.IntN(9) {
						case 0, 1, 2:
							_, err = w.store.Put(t.Context(), &e)
							staff[id] = e
						case 3:
							err = w.store.Delete(t.Context(), key(id))
							delete(staff, id)
						case 4:
							_, err = departments.Insert(t.Context(), value)
							if want = patterns.ErrExists; !exists {
								want, exists, title, edits = nil, true, *D(value).title(), 0
							}
						case 5:
							if !exists {
								_, err = departments.Put(t.Context(), value)
								exists, title, edits = true, *D(value).title(), 0
							}
						case 6:
							_, err = departments.Update(t.Context(), w.at, func(d *T) error { *D(d).edits()++; return nil })
							if want = patterns.ErrNotFound; exists {
								want = nil
								edits++
							}
						case 7:
							item, rerr := departments.Get(t.Context(), w.at)
							if !exists {
								assert.WantError(t, rerr, patterns.ErrNotFound)
								continue
							}
							assert.NoError(t, rerr)
							edited := item.Value
							*D(&edited).edits()++
							_, err = departments.PutItem(t.Context(), item, &edited)
							edits++
						default:
							err = departments.Repair(t.Context(), w.at)
							if want = patterns.ErrNotFound; exists {
								want = nil
							}
						}
						assert.WantError(assert.Now(t), err, want, "seed", seed, "step", i)
						w.wantStaff(t, staff)
						item, err := departments.Get(t.Context(), w.at)
						if exists != (err == nil) || exists && (*D(&item.Value).edits() != edits || *D(&item.Value).title() != title) {
							t.Fatalf("seed %d, step %d: %+v, %v; want %d edits of %s", seed, i, item.Value, err, edits, title)
						}
					}
				}
			})
		}
	})
}

// Departments are inserted and changed while their employees are, and replies are lost.
func TestADepartmentIsInsertedWhileItsEmployeesAreCounted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for place := range places {
			t.Run(place, func(t *testing.T) {
				defer b.ClearFaults()
				w := openShared(t, b, place)
				departments := units[wide](t, w)
				for _, op := range []string{"Table.Batch", "Table.Insert", "Table.Replace"} {
					b.Fault(storagetest.On(op).Probability(0.1).LoseReply())
				}
				allowed := func(err error) bool {
					for _, e := range []error{nil, patterns.ErrExists, patterns.ErrConflict, patterns.ErrNotFound, patterns.ErrOutcomeUnknown} {
						if errors.Is(err, e) {
							return true
						}
					}
					return false
				}
				var inserted, edited, unknown atomic.Int32
				count := func(n *atomic.Int32, err error) {
					if err == nil {
						n.Add(1)
					} else if errors.Is(err, patterns.ErrOutcomeUnknown) {
						unknown.Add(1)
					}
					if !allowed(err) {
						t.Errorf("%+v", err)
					}
				}
				var wg sync.WaitGroup
				for i := range 3 {
					wg.Go(func() {
						for j := range 4 {
							_, err := w.store.Put(t.Context(), &employee{Department: "Sales", ID: fmt.Sprint(i, j%2), Orders: int64(j)})
							count(new(atomic.Int32), err)
						}
					})
				}
				for range 2 {
					wg.Go(func() {
						for range 4 {
							_, err := departments.Insert(t.Context(), &wide{Title: "Sales"})
							count(&inserted, err)
							_, err = departments.Update(t.Context(), w.at, func(d *wide) error { d.Edits++; return nil })
							count(&edited, err)
						}
					})
				}
				wg.Wait()
				b.ClearFaults()
				assert.NoError(t, w.messages.Work(t.Context(), w.store.Handle))
				staff := map[string]employee{}
				for item, err := range w.store.Query(t.Context(), query.PartitionKey.Eq("Sales"), nil) {
					assert.NoError(t, err)
					if item.Key != w.at { // every row has the key that fields for keys imply
						staff[item.Value.ID] = item.Value
					}
				}
				w.wantStaff(t, staff)
				d := assert.Must(departments.Get(t.Context(), w.at))(t)
				if inserted.Load() > 1 || d.Value.Title != "Sales" || d.Value.Edits < edited.Load() || d.Value.Edits > edited.Load()+unknown.Load() {
					t.Errorf("%+v after %d inserts and %d edits, %d unknown", d.Value, inserted.Load(), edited.Load(), unknown.Load())
				}
			})
		}
	})
}
