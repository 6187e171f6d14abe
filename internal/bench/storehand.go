package bench

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// byHand is the directory as a competent user writes it with aztables: typed rows, and
// one transaction with If-Match on the primary.
type byHand struct{ table *aztables.Client }

type handPerson struct {
	aztables.Entity
	FirstName    string
	LastName     string
	Age          int32
	EmailAddress string
	EmployeeID   string
}

func (h byHand) rows(p *Person) (primary handPerson, copies []handPerson) {
	primary = handPerson{
		Entity:    aztables.Entity{PartitionKey: p.PartitionKey, RowKey: p.RowKey},
		FirstName: p.FirstName, LastName: p.LastName, Age: p.Age, EmailAddress: p.EmailAddress, EmployeeID: p.RowKey,
	}
	email, last := primary, primary
	email.RowKey, last.RowKey = "email_"+p.EmailAddress, "last_"+p.LastName+"  "+p.RowKey
	return primary, []handPerson{email, last}
}

func (h byHand) insert(ctx context.Context, p *Person) error {
	primary, copies := h.rows(p)
	var actions []aztables.TransactionAction
	for _, row := range append([]handPerson{primary}, copies...) {
		raw, err := json.Marshal(row)
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: raw})
	}
	_, err := h.table.SubmitTransaction(ctx, actions, nil)
	return err
}

func (h byHand) update(ctx context.Context, p *Person) error {
	resp, err := h.table.GetEntity(ctx, p.PartitionKey, p.RowKey, nil)
	if err != nil {
		return err
	}
	var old handPerson
	if err := json.Unmarshal(resp.Value, &old); err != nil {
		return err
	}
	_, was := h.rows(&Person{PartitionKey: old.PartitionKey, RowKey: old.RowKey, LastName: old.LastName, EmailAddress: old.EmailAddress})
	primary, now := h.rows(p)
	var actions []aztables.TransactionAction
	add := func(kind aztables.TransactionType, row handPerson, etag *azcore.ETag) error {
		raw, err := json.Marshal(row)
		actions = append(actions, aztables.TransactionAction{ActionType: kind, Entity: raw, IfMatch: etag})
		return err
	}
	if err := add(aztables.TransactionTypeUpdateReplace, primary, &resp.ETag); err != nil {
		return err
	}
	for i := range now {
		if now[i].RowKey == was[i].RowKey {
			err = add(aztables.TransactionTypeUpdateReplace, now[i], nil)
		} else if err = add(aztables.TransactionTypeDelete, was[i], nil); err == nil {
			err = add(aztables.TransactionTypeAdd, now[i], nil)
		}
		if err != nil {
			return err
		}
	}
	_, err = h.table.SubmitTransaction(ctx, actions, nil)
	return err
}

// put is update: to change the copies, it has to know the ones that exist.
func (h byHand) put(ctx context.Context, p *Person) error { return h.update(ctx, p) }

func (h byHand) remove(ctx context.Context, p *Person) error {
	resp, err := h.table.GetEntity(ctx, p.PartitionKey, p.RowKey, nil)
	if err != nil {
		return err
	}
	var old Person
	if err := json.Unmarshal(resp.Value, &old); err != nil {
		return err
	}
	primary, copies := h.rows(&old)
	var actions []aztables.TransactionAction
	for i, row := range append([]handPerson{primary}, copies...) {
		raw, err := json.Marshal(row.Entity)
		if err != nil {
			return err
		}
		action := aztables.TransactionAction{ActionType: aztables.TransactionTypeDelete, Entity: raw}
		if i == 0 {
			action.IfMatch = &resp.ETag
		}
		actions = append(actions, action)
	}
	_, err = h.table.SubmitTransaction(ctx, actions, nil)
	return err
}

func (h byHand) get(ctx context.Context, partition, email string) (p Person, err error) {
	resp, err := h.table.GetEntity(ctx, partition, "email_"+email, nil)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(resp.Value, &p)
}

func (h byHand) list(ctx context.Context, partition, prefix string) (n int, err error) {
	end := []byte("email_" + prefix)
	end[len(end)-1]++
	pager := h.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq '" + partition + "' and RowKey ge 'email_" + prefix + "' and RowKey lt '" + string(end) + "'"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return n, err
		}
		for _, raw := range page.Entities {
			var row handPerson
			if err := json.Unmarshal(raw, &row); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
