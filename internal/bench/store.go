package bench

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
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

// directory has the operations that are compared. withStore has them as a Store, byHand as
// code that a competent user writes with aztables, with the same guarantees as long as no
// reply is lost.
type directory interface {
	insert(ctx context.Context, p *Person) error
	update(ctx context.Context, p *Person) error
	put(ctx context.Context, p *Person) error
	remove(ctx context.Context, p *Person) error
	get(ctx context.Context, partition, email string) (Person, error)
	list(ctx context.Context, partition, prefix string) (int, error)
}

// listed is the number of rows in a range.
const listed = 500

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
	email := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.EmailAddress, true }, nil)
	last := secondaryindex.Intra("last", func(p *Person) (string, bool) { return p.LastName, true },
		&secondaryindex.Options[Person]{NonUnique: true})
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Person]{Views: []patterns.View[Person]{email, last}})
	if err != nil {
		return nil, err
	}
	return withStore{store, email.On(store)}, nil
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

func (w withStore) put(ctx context.Context, p *Person) error {
	_, err := w.store.Put(ctx, p)
	return err
}

func (w withStore) remove(ctx context.Context, p *Person) error {
	return w.store.Delete(ctx, keys.Key{Partition: p.PartitionKey, Row: p.RowKey})
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
