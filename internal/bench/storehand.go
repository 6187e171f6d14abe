package bench

import (
	"context"

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
	var t handTransaction
	for _, row := range append([]handPerson{primary}, copies...) {
		t.insert(row)
	}
	return t.submit(ctx, h.table)
}

func (h byHand) update(ctx context.Context, p *Person) error {
	old, etag, err := handGetVersion[handPerson](ctx, h.table, p.PartitionKey, p.RowKey)
	if err != nil {
		return err
	}
	_, was := h.rows(&Person{PartitionKey: old.PartitionKey, RowKey: old.RowKey, LastName: old.LastName, EmailAddress: old.EmailAddress})
	primary, now := h.rows(p)
	var t handTransaction
	t.add(aztables.TransactionTypeUpdateReplace, primary, &etag)
	for i := range now {
		if now[i].RowKey == was[i].RowKey {
			t.add(aztables.TransactionTypeUpdateReplace, now[i], nil)
		} else {
			t.add(aztables.TransactionTypeDelete, was[i], nil)
			t.insert(now[i])
		}
	}
	return t.submit(ctx, h.table)
}

// put is update: to change the copies, it has to know the ones that exist.
func (h byHand) put(ctx context.Context, p *Person) error { return h.update(ctx, p) }

func (h byHand) remove(ctx context.Context, p *Person) error {
	old, etag, err := handGetVersion[Person](ctx, h.table, p.PartitionKey, p.RowKey)
	if err != nil {
		return err
	}
	primary, copies := h.rows(&old)
	var t handTransaction
	for _, row := range append([]handPerson{primary}, copies...) {
		t.add(aztables.TransactionTypeDelete, row.Entity, nil)
	}
	t.actions[0].IfMatch = &etag
	return t.submit(ctx, h.table)
}

func (h byHand) get(ctx context.Context, partition, email string) (Person, error) {
	return handGet[Person](ctx, h.table, partition, "email_"+email)
}

func (h byHand) list(ctx context.Context, partition, prefix string) (int, error) {
	end := []byte("email_" + prefix)
	end[len(end)-1]++
	return handRange[handPerson](ctx, h.table, "PartitionKey eq '"+partition+"' and RowKey ge 'email_"+prefix+"' and RowKey lt '"+string(end)+"'")
}
