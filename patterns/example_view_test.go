package patterns_test

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The indexes of members need no client, so they are variables. The rows of the second one are in
// another partition of the same table.
var (
	membersByEmail = secondaryindex.Intra("email", func(m *Member) (string, bool) { return m.Email, m.Email != "" },
		&secondaryindex.Options[Member]{Key: memberKey})
	membersByBadge = secondaryindex.Inter("badge", nil, func(m *Member) (string, bool) { return m.Badge, m.Badge != "" },
		&secondaryindex.Options[Member]{Key: memberKey})
)

// openMembers checks two errors. NewStore returns those of the indexes.
func openMembers(client *aztables.Client, outbox patterns.OutboxQueue) (*patterns.Store[Member], error) {
	table, err := patterns.NewTable(client, &patterns.TableOptions[Member]{Key: memberKey})
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Member]{
		Views: []patterns.View[Member]{membersByEmail, membersByBadge}, Outbox: outbox,
	})
}

// A table with a Store and two indexes.
func ExampleNewStore() {
	ctx := context.Background()
	account := storagetest.Start(nil)
	outbox, err := eventual.NewOutbox(account.Queue("outbox"), "staff", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	members, err := openMembers(account.Tables().NewClient("staff"), outbox)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := members.Create(ctx); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := members.Insert(ctx, &Member{"Sales", "000223", "jonesj@contoso.com", "B-17"}); err != nil {
		fmt.Println(err)
		return
	}
	email, err := membersByEmail.On(members).Get(ctx, "Sales", "jonesj@contoso.com")
	fmt.Println(email.Primary.Row, err)
	badge, err := membersByBadge.On(members).Get(ctx, "Sales", "B-17")
	fmt.Println(badge.Primary.Row, err)

	// An index with a mistake is refused before any request.
	byName := secondaryindex.Intra("last_name", func(m *Member) (string, bool) { return m.ID, true }, nil)
	_, err = patterns.NewStore(members.Table(), &patterns.StoreOptions[Member]{Views: []patterns.View[Member]{byName}})
	fmt.Println(err)
	_, err = byName.On(members).Get(ctx, "Sales", "Jones")
	fmt.Println(err)
	// Output:
	// empid_000223 <nil>
	// empid_000223 <nil>
	// new store: view 0: view "last_name": view breaks its contract: name: bad key: it needs 1 to 64 letters, digits, '-' and '.'
	// get: index "last_name": view breaks its contract: name: bad key: it needs 1 to 64 letters, digits, '-' and '.'
}
