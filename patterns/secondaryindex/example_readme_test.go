package secondaryindex_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the entity of the README.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Email      string
	Age        int32
}

func olderByHand(ctx context.Context, client *aztables.Client) error {
	for {
		resp, err := client.GetEntity(ctx, "Sales", "00010", nil)
		if err != nil {
			return err
		}
		// A struct would drop the properties that it lacks.
		row := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(resp.Value))
		decoder.UseNumber() // a float64 would change the types
		if err := decoder.Decode(&row); err != nil {
			return err
		}
		age, err := row["Age"].(json.Number).Int64()
		if err != nil {
			return err
		}
		row["Age"] = age + 1
		body, err := json.Marshal(row)
		if err != nil {
			return err
		}
		_, err = client.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
			IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeReplace,
		})
		var refused *azcore.ResponseError
		if errors.As(err, &refused) && refused.StatusCode == 412 {
			continue // changed by another, or by our own lost attempt?
		}
		return err
	}
}

func older(ctx context.Context, table *patterns.Table[Employee], key keys.Key) error {
	_, err := table.Update(ctx, key, func(e *Employee) error {
		e.Age++
		return nil
	})
	return err
}

func TestBothWaysOfTheReadmeChangeTheAge(t *testing.T) {
	table, err := patterns.NewTable[Employee](storagetest.New(t).Tables().NewClient("Employees"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	ken := &Employee{Department: "Sales", ID: "00010", Name: "Ken Kwok", Age: 34}
	if _, err := table.Insert(t.Context(), ken); err != nil {
		t.Fatal(err)
	}
	key := keys.Key{Partition: "Sales", Row: "00010"}
	if err := errors.Join(olderByHand(t.Context(), table.Client()), older(t.Context(), table, key)); err != nil {
		t.Fatal(err)
	}
	if item, err := table.Get(t.Context(), key); err != nil || item.Value.Age != 36 {
		t.Errorf("%+v %v", item.Value, err)
	}
}

// The Store of the README, and its worker, which ends when it has nothing left to do.
func Example_storeAndWorker() {
	ctx, cancel := context.WithCancel(context.Background())
	account := storagetest.Start(nil)
	queue, poison := account.Queue("employees"), account.Queue("poison")
	table, err := patterns.NewTable[Employee](account.Tables().NewClient("Employees"), nil)
	check := func(err error) {
		if err != nil && !errors.Is(err, context.Canceled) {
			panic(err)
		}
	}
	check(err)

	byEmail := secondaryindex.Intra("email", func(e *Employee) (string, bool) { return e.Email, e.Email != "" }, nil)
	byName := secondaryindex.Inter("name", nil, func(e *Employee) (string, bool) { return e.Name, true },
		&secondaryindex.Options[Employee]{NonUnique: true})
	outbox, err := eventual.NewOutbox(queue, "employees", nil)
	check(err)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views: []patterns.View[Employee]{byEmail, byName}, Outbox: outbox,
	})
	check(err)
	check(store.Create(ctx)) // no error if the tables exist

	_, err = store.Insert(ctx, &Employee{Department: "Sales", ID: "00010", Name: "Ken Kwok", Email: "kenk@contoso.com", Age: 34})
	check(err)
	for entry, err := range byName.On(store).Query(ctx, "Sales", secondaryindex.Prefix("Ken"), nil) {
		check(err)
		fmt.Println(entry.Value.Email)
	}

	cancel() // a service would not
	worker, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison})
	check(err)
	eventual.HandleOutbox(worker, "employees", store)
	check(worker.Run(ctx)) // until the context ends

	// Output:
	// kenk@contoso.com
}
