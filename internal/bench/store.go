package bench

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Person is an entity with two indexes in its partition: by e-mail address, unique,
// and by last name.
type Person struct {
	PartitionKey string
	RowKey       string
	FirstName    string
	LastName     string
	Age          int32
	EmailAddress string
}

// directory has the operations that are compared.
type directory interface {
	insert(ctx context.Context, p *Person) error
	update(ctx context.Context, p *Person) error
	get(ctx context.Context, partition, email string) (Person, error)
	list(ctx context.Context, partition, prefix string) (int, error)
}

// listed is the number of rows in a range.
const listed = 500

// Stores returns the jobs for a table with two indexes in each partition. They compare a
// Store with code that a competent user writes with aztables, which has the same
// guarantees as long as no response is lost. They use an in-process account. A move is a
// change of the e-mail address.
func Stores() []Job {
	inStore := func(client func(*service) *aztables.Client) func(*service) (directory, error) {
		return func(s *service) (directory, error) { return newWithStore(client(s)) }
	}
	ways := []struct {
		name string
		open func(*service) (directory, error)
	}{
		{handStruct, func(s *service) (directory, error) { return byHand{s.plain}, nil }},
		{plainWay, inStore(func(s *service) *aztables.Client { return s.plain })},
		{acceleratedWay, inStore(func(s *service) *aztables.Client { return s.accelerated })},
	}
	var jobs []Job
	for _, task := range []string{"insert", "update", "move", "get", "range"} {
		job := Job{Name: "Store with two indexes, " + task, Unit: "operation", Per: 1, open: onAccount}
		if task == "range" {
			job.Unit, job.Per = "row", listed
		}
		for _, w := range ways {
			job.Ways = append(job.Ways, Way{w.name, func(s *service) (func(context.Context) error, error) {
				d, err := w.open(s)
				if err != nil {
					return nil, err
				}
				return prepare(context.Background(), d, task, w.name)
			}})
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// onAccount opens an in-process account with the table.
func onAccount(ctx context.Context) (*service, error) {
	acct := storagetest.Start(&storagetest.Options{LogLimit: 1 << 10})
	s := &service{
		plain:       acct.Tables().NewClient(tableName),
		accelerated: acct.TablesWith(patterns.Accelerate(nil)).NewClient(tableName),
		close:       func() {},
		requests: func() int {
			n := len(acct.Log())
			acct.ResetLog()
			return n
		},
	}
	_, err := s.plain.CreateTable(ctx, nil)
	return s, err
}

// prepare stores the rows for a task in the partition, and returns the function that runs
// the task once.
func prepare(ctx context.Context, d directory, task, partition string) (func(context.Context) error, error) {
	n := 0
	person := func(i int, email int) *Person {
		return &Person{partition, fmt.Sprintf("empid_%06d", i), "Mary", "Jones", int32(n), fmt.Sprintf("mary%06d@contoso.com", email)}
	}
	switch task {
	case "insert":
		return func(ctx context.Context) error {
			n++
			return d.insert(ctx, person(n, n))
		}, nil
	case "range":
		for i := range listed {
			if err := d.insert(ctx, person(i, i)); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context) error {
			n, err := d.list(ctx, partition, "mary")
			if err == nil && n != listed {
				err = fmt.Errorf("%d rows", n)
			}
			return err
		}, nil
	}
	run := map[string]func(context.Context) error{
		"update": func(ctx context.Context) error {
			n++
			return d.update(ctx, person(0, 0))
		},
		"move": func(ctx context.Context) error {
			n++
			return d.update(ctx, person(0, n))
		},
		"get": func(ctx context.Context) error {
			_, err := d.get(ctx, partition, person(0, 0).EmailAddress)
			return err
		},
	}[task]
	return run, d.insert(ctx, person(0, 0))
}

// withStore is the directory as a Store.
type withStore struct {
	store *patterns.Store[Person]
	email *secondaryindex.Reader[Person]
}

func newWithStore(client *aztables.Client) (directory, error) {
	table, err := patterns.NewTable[Person](client, nil)
	if err != nil {
		return nil, err
	}
	email, err := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.EmailAddress, true }, nil)
	if err != nil {
		return nil, err
	}
	last, err := secondaryindex.Intra("last", func(p *Person) (string, bool) { return p.LastName, true },
		&secondaryindex.Options[Person]{NonUnique: true})
	if err != nil {
		return nil, err
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Person]{Views: []patterns.View[Person]{email, last}})
	if err != nil {
		return nil, err
	}
	reader, err := email.On(store)
	return withStore{store, reader}, err
}

func (w withStore) insert(ctx context.Context, p *Person) error {
	_, err := w.store.Insert(ctx, p)
	return err
}

func (w withStore) update(ctx context.Context, p *Person) error {
	key := keys.Key{Partition: p.PartitionKey, Row: p.RowKey}
	_, err := w.store.Update(ctx, key, func(was *Person) error { *was = *p; return nil })
	return err
}

func (w withStore) get(ctx context.Context, partition, email string) (Person, error) {
	e, err := w.email.Get(ctx, partition, email)
	return e.Value, err
}

func (w withStore) list(ctx context.Context, partition, prefix string) (n int, err error) {
	for _, err := range w.email.Query(ctx, partition, secondaryindex.Prefix(prefix), nil) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
