package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
)

// storeRows are the operations of Stores: indexes, lists and denormalized counts.
func storeRows() []Row {
	mary := person(1)
	renamed := *mary
	renamed.FirstName, renamed.Age = "Marianne", 51
	moved := *mary
	moved.EmailAddress = "marianne@contoso.com"
	one := func(ctx context.Context, c *Clients) error { return seed(ctx, c, 1) }
	return []Row{
		directoryRow("Store insert (2 local indexes)", Goal{Ratio: 7, Allocs: 115, Bytes: 10 << 10, Requests: 1}, nil, 3, mary,
			func(ctx context.Context, d directory) error { return d.insert(ctx, mary) }),
		directoryRow("Store update", Goal{Ratio: 4.4, Allocs: 196, Requests: 2}, one, 3, &renamed,
			func(ctx context.Context, d directory) error { return d.update(ctx, &renamed) }),
		directoryRow("Store update of an indexed value", Goal{Ratio: 4, Requests: 2}, one, 3, &moved,
			func(ctx context.Context, d directory) error { return d.update(ctx, &moved) }),
		directoryRow("Store put", Goal{Ratio: 4.4, Allocs: 196, Requests: 2}, one, 3, &renamed,
			func(ctx context.Context, d directory) error { return d.put(ctx, &renamed) }),
		directoryRow("Store delete", Goal{Ratio: 4.2, Allocs: 175, Requests: 2}, one, 0, nil,
			func(ctx context.Context, d directory) error { return d.remove(ctx, mary) }),
		directoryRow("index get", Goal{Ratio: 3, Allocs: 67, Requests: 1}, one, 3, mary, func(ctx context.Context, d directory) error {
			p, err := d.get(ctx, mary.PartitionKey, mary.EmailAddress)
			if err == nil && (p.FirstName != mary.FirstName || p.Age != mary.Age) {
				err = fmt.Errorf("read %+v", p)
			}
			return err
		}),
		perUnit("row", listed, directoryRow("index range of 500", Goal{Ratio: 15, Allocs: 2},
			func(ctx context.Context, c *Clients) error { return seed(ctx, c, listed) }, 3*listed, mary,
			func(ctx context.Context, d directory) error {
				n, err := d.list(ctx, mary.PartitionKey, "mary")
				return wantCount(n, listed, err)
			})),
		listAdd(),
		listMembers(),
		counted(),
	}
}

func person(i int) *Person {
	return &Person{"Sales", fmt.Sprintf("empid_%06d", i), "Mary", "Jones", 50, fmt.Sprintf("mary%06d@contoso.com", i)}
}

func seed(ctx context.Context, c *Clients, people int) error {
	d, err := newWithStore(c.Table())
	for i := range people {
		if err == nil {
			err = d.insert(ctx, person(i+1))
		}
	}
	return err
}

// directoryRow is an operation of a directory that leaves that many rows in the table,
// among them want and its copy by e-mail address.
func directoryRow(name string, goal Goal, setup func(context.Context, *Clients) error, rows int, want *Person, do func(context.Context, directory) error) Row {
	return Row{
		Name: name, Unit: "operation", Goal: goal, Setup: setup,
		Hand: with(func(c *Clients) (directory, error) { return byHand{c.Table()}, nil }, do),
		Ours: with(func(c *Clients) (directory, error) { return newWithStore(c.Table()) }, do),
		Check: func(ctx context.Context, c *Clients) error {
			if err := leaves(rows)(ctx, c); err != nil || want == nil {
				return err
			}
			for _, rk := range []string{want.RowKey, "email_" + want.EmailAddress} {
				got, err := handGet[Person](ctx, c.Table(), want.PartitionKey, rk)
				if err != nil {
					return err
				}
				if got.RowKey = want.RowKey; got != *want {
					return fmt.Errorf("row %s is %+v", rk, got)
				}
			}
			return nil
		},
	}
}

func perUnit(unit string, per int, r Row) Row {
	r.Unit, r.Per = unit, per
	return r
}

// Worker is an entity of a department. The row "Department" of the partition contains the
// number of workers.
type Worker struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	LastName   string
}

type handWorker struct {
	aztables.Entity
	LastName string
}

func (w *Worker) byHand() handWorker {
	return handWorker{aztables.Entity{PartitionKey: w.Department, RowKey: w.ID}, w.LastName}
}

func worker(i int) *Worker { return &Worker{"Sales", fmt.Sprintf("%06d", i), "Jones"} }

// seedWorkers inserts workers into the Store that Ours uses.
func seedWorkers(n int, open func(*Clients) (*patterns.Store[Worker], error)) func(context.Context, *Clients) error {
	return func(ctx context.Context, c *Clients) error {
		s, err := open(c)
		for i := range n {
			if err == nil {
				_, err = s.Insert(ctx, worker(i))
			}
		}
		return err
	}
}

const members = 100

var (
	lastNames = indexentity.Intra("lastname", func(w *Worker) (string, bool) { return w.LastName, true }, nil)
	headcount = denormalize.Intra("count", denormalize.Count("EmployeeCount", func(w *Worker) (keys.Key, bool) {
		return keys.Key{Partition: w.Department, Row: "Department"}, true
	}), nil)
)

func withLists(c *Clients) (*patterns.Store[Worker], error) { return workerStore(c, lastNames) }

func withCount(c *Clients) (*patterns.Store[Worker], error) { return workerStore(c, headcount) }

func workerStore(c *Clients, view patterns.View[Worker]) (*patterns.Store[Worker], error) {
	table, err := patterns.NewTable[Worker](c.Table(), nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Worker]{Views: []patterns.View[Worker]{view}})
}

func insertWorker(open func(*Clients) (*patterns.Store[Worker], error), w *Worker) func(*Clients) (Run, error) {
	return with(open, func(ctx context.Context, s *patterns.Store[Worker]) error {
		_, err := s.Insert(ctx, w)
		return err
	})
}

type handList struct {
	aztables.Entity
	Members string
}

func (h *handList) members() (ids []string, err error) {
	return ids, json.Unmarshal([]byte(h.Members), &ids)
}

// listAdd adds an entity to a list of ten.
func listAdd() Row {
	added := worker(500)
	return Row{
		Name: "list add", Unit: "operation", Goal: Goal{Ratio: 2.5, Allocs: 220, Requests: 2},
		Setup: seedWorkers(10, withLists),
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			list, etag, err := handGetVersion[handList](ctx, table, "Sales", "lastname_Jones")
			if err != nil {
				return err
			}
			ids, err := list.members()
			if err != nil {
				return err
			}
			if at, ok := slices.BinarySearch(ids, added.ID); !ok {
				ids = slices.Insert(ids, at, added.ID)
			}
			text, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			list.Members = string(text)
			return insertAndMerge(ctx, table, added, list, etag)
		}),
		Ours: insertWorker(withLists, added),
		Check: func(ctx context.Context, c *Clients) error {
			list, err := handGet[handList](ctx, c.Table(), "Sales", "lastname_Jones")
			if err != nil {
				return err
			}
			if ids, err := list.members(); err != nil || len(ids) != 11 || ids[10] != added.ID {
				return fmt.Errorf("the list is %v, error %w", ids, err)
			}
			return leaves(12)(ctx, c)
		},
	}
}

// insertAndMerge inserts the worker and merges properties into another row of the
// partition, in one transaction.
func insertAndMerge(ctx context.Context, table *aztables.Client, w *Worker, into any, etag azcore.ETag) error {
	t := handTransaction{actions: make([]aztables.TransactionAction, 0, 2)}
	t.insert(w.byHand())
	t.add(aztables.TransactionTypeUpdateMerge, into, &etag)
	return t.submit(ctx, table)
}

func listMembers() Row {
	openIndex := func(c *Clients) (*indexentity.Reader[Worker], error) {
		s, err := withLists(c)
		if err != nil {
			return nil, err
		}
		return lastNames.On(s), nil
	}
	return Row{
		Name: "list members, of 100", Unit: "operation", Goal: Goal{Ratio: 2.4, Allocs: 80, Requests: 1},
		Setup: seedWorkers(members, withLists),
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			list, err := handGet[handList](ctx, table, "Sales", "lastname_Jones")
			if err != nil {
				return err
			}
			ids, err := list.members()
			if err != nil {
				return err
			}
			found := make([]keys.Key, len(ids))
			for i, id := range ids {
				found[i] = keys.Key{Partition: "Sales", Row: id}
			}
			return wantCount(len(found), members, nil)
		}),
		Ours: with(openIndex, func(ctx context.Context, index *indexentity.Reader[Worker]) error {
			found, err := index.Get(ctx, "Sales", "Jones")
			return wantCount(len(found), members, err)
		}),
	}
}

type handDepartment struct {
	aztables.Entity
	EmployeeCount     aztables.EDMInt64
	EmployeeCountType string `json:"EmployeeCount@odata.type"`
}

// counted inserts an entity and adds one to a counter in its partition.
func counted() Row {
	added := worker(500)
	return Row{
		Name: "denormalized count", Unit: "operation", Goal: Goal{Ratio: 4, Allocs: 185, Requests: 2},
		Setup: seedWorkers(3, withCount),
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			d, etag, err := handGetVersion[handDepartment](ctx, table, "Sales", "Department")
			if err != nil {
				return err
			}
			d.EmployeeCount++
			d.EmployeeCountType = "Edm.Int64"
			return insertAndMerge(ctx, table, added, d, etag)
		}),
		Ours: insertWorker(withCount, added),
		Check: func(ctx context.Context, c *Clients) error {
			d, err := handGet[handDepartment](ctx, c.Table(), "Sales", "Department")
			if err == nil && d.EmployeeCount != 4 {
				err = fmt.Errorf("the count is %d", d.EmployeeCount)
			}
			return err
		},
	}
}
