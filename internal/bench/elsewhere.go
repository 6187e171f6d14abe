package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// elsewhereLatency is what a request takes, so that the time of a call is its round trips.
const elsewhereLatency = 100 * time.Millisecond

// ElsewhereResult is the cost of a change of an entity with rows in other partitions.
type ElsewhereResult struct {
	Change, Way string
	Requests    int // of the call
	Trips       int // of the call, one after the other
	After       int // requests of a worker, or of a Finisher when it is flushed
	Former      string
}

// elsewhere are the changes. former is what they took when rows were read after the transaction.
var elsewhere = []struct {
	name, former string
	insert       bool // otherwise the entity is stored before
	views        func() []patterns.View[Person]
	change       func(ctx context.Context, s *patterns.Store[Person], p *Person) error
}{
	{"insert, one unique row elsewhere", "6 / 5", true, uniqueElsewhere, insertPerson},
	{"insert, one row elsewhere that is not unique", "6 / 6", true, copyElsewhere, insertPerson},
	{"put that changes a unique row and moves to another list elsewhere", "15 / 9", false, listsElsewhere, func(ctx context.Context, s *patterns.Store[Person], p *Person) error {
		now := *p
		now.EmailAddress, now.LastName = "new", "New"
		_, err := s.Put(ctx, &now)
		return err
	}},
	{"delete, one unique row elsewhere", "9 / 9", false, uniqueElsewhere, func(ctx context.Context, s *patterns.Store[Person], p *Person) error {
		return s.Delete(ctx, keys.Key{Partition: p.PartitionKey, Row: p.RowKey})
	}},
}

func insertPerson(ctx context.Context, s *patterns.Store[Person], p *Person) error {
	_, err := s.Insert(ctx, p)
	return err
}

func emailElsewhere(nonUnique bool) patterns.View[Person] {
	return secondaryindex.Inter("email", nil, func(p *Person) (string, bool) { return p.EmailAddress, true }, &secondaryindex.Options[Person]{NonUnique: nonUnique})
}

func uniqueElsewhere() []patterns.View[Person] { return []patterns.View[Person]{emailElsewhere(false)} }
func copyElsewhere() []patterns.View[Person]   { return []patterns.View[Person]{emailElsewhere(true)} }
func listsElsewhere() []patterns.View[Person] {
	return []patterns.View[Person]{
		emailElsewhere(false),
		indexentity.Inter("last", nil, func(p *Person) (string, bool) { return p.LastName, true }, nil),
	}
}

// Elsewhere measures changes of entities with rows elsewhere: without a Finisher, and with one that is flushed afterwards. Before them
// is the recipe of the guide, written by hand: a message, the entity, and a worker that copies it.
func Elsewhere(ctx context.Context) ([]ElsewhereResult, error) {
	results, err := handElsewhere(ctx)
	if err != nil {
		return nil, err
	}
	for i := range elsewhere {
		for _, finisher := range []bool{false, true} {
			r, err := storeElsewhere(ctx, i, finisher)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", elsewhere[i].name, err)
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// elsewhereClients creates a table and a queue.
func elsewhereClients(ctx context.Context) (*storagetest.Account, *aztables.Client, *azqueue.QueueClient, error) {
	account := storagetest.Start(nil)
	client, queue := account.TablesWith(accelerated()).NewClient(tableName), account.Queue("outbox")
	_, err1 := client.CreateTable(ctx, nil)
	_, err2 := queue.Create(ctx, nil)
	return account, client, queue, errors.Join(err1, err2)
}

// measured returns the requests and the round trips of a call.
func measured(account *storagetest.Account, do func() error) (requests, trips int, err error) {
	account.ResetLog()
	began := time.Now()
	err = do()
	return len(account.Log()), int((time.Since(began) + elsewhereLatency/4) / elsewhereLatency), err
}

func storeElsewhere(ctx context.Context, i int, withFinisher bool) (ElsewhereResult, error) {
	c := elsewhere[i]
	r := ElsewhereResult{Change: c.name, Way: "a Store", Former: c.former}
	account, client, queue, err := elsewhereClients(ctx)
	if err != nil {
		return r, err
	}
	opts := &patterns.StoreOptions[Person]{Views: c.views()}
	finisher, err1 := patterns.NewFinisher(nil)
	if withFinisher {
		opts.Finisher, r.Way = finisher, "a Store with a Finisher"
	}
	table, err2 := patterns.NewTable[Person](client, nil)
	outbox, err3 := eventual.NewOutbox(queue, "", nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return r, err
	}
	opts.Outbox = outbox
	store, err := patterns.NewStore(table, opts)
	if err != nil {
		return r, err
	}
	// Others are in each list, so that none becomes empty.
	before := []*Person{{"Sales", "1", "Old", "Old", 0, "1"}, {"Sales", "2", "New", "New", 0, "2"}}
	person := &Person{"Sales", "3", "Old", "Old", 0, "old"}
	if !c.insert {
		before = append(before, person)
	}
	for _, p := range before {
		if _, err := store.Insert(ctx, p); err != nil {
			return r, err
		}
	}
	if err := finisher.Flush(ctx); err != nil {
		return r, err
	}
	account.Fault(storagetest.On("*").Delay(elsewhereLatency))
	if r.Requests, r.Trips, err = measured(account, func() error { return c.change(ctx, store, person) }); err != nil {
		return r, err
	}
	r.After, _, err = measured(account, func() error { return finisher.Close(ctx) })
	return r, err
}

// handElsewhere is the guide's recipe for a copy in another partition: eventual consistency by a message and an idempotent worker. It
// keeps no value unique, and a reader finds the copy when the worker has written it.
func handElsewhere(ctx context.Context) ([]ElsewhereResult, error) {
	account, client, queue, err := elsewhereClients(ctx)
	if err != nil {
		return nil, err
	}
	account.Fault(storagetest.On("*").Delay(elsewhereLatency))
	row := []byte(`{"PartitionKey":"Sales","RowKey":"3","LastName":"Old","EmailAddress":"old"}`)
	r := ElsewhereResult{Change: "insert, one row elsewhere", Way: "by hand, as in the guide"}
	r.Requests, r.Trips, err = measured(account, func() error {
		if _, err := queue.EnqueueMessage(ctx, `{"p":"Sales","r":"3"}`, nil); err != nil {
			return err
		}
		_, err := client.AddEntity(ctx, row, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.After, _, err = measured(account, func() error {
		got, err := queue.DequeueMessage(ctx, nil)
		if err != nil || len(got.Messages) != 1 {
			return fmt.Errorf("%d messages: %w", len(got.Messages), err)
		}
		if _, err := client.GetEntity(ctx, "Sales", "3", nil); err != nil {
			return err
		}
		copied := []byte(`{"PartitionKey":"email_Sales","RowKey":"old","LastName":"Old"}`)
		if _, err := client.UpsertEntity(ctx, copied, nil); err != nil {
			return err
		}
		m := got.Messages[0]
		_, err = queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		return err
	})
	return []ElsewhereResult{r}, err
}
