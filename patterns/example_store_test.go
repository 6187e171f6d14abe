package patterns_test

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Member is an employee with an id, an e-mail address and a badge.
type Member struct {
	Department, ID, Email, Badge string
}

func memberKey(m *Member) (keys.Key, error) {
	return keys.Key{Partition: m.Department, Row: "empid_" + m.ID}, nil
}

// The e-mail index is in the employee's partition, the badge index is not.
func ExampleStore_ExplainChange() {
	byEmail := patterns.ViewOf("byEmail", patterns.Shape{}, func(m *Member) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: m.Department, Row: "email_" + m.Email}, patterns.CopySpec{})}, nil
	})
	byBadge := patterns.ViewOf("byBadge", patterns.Shape{Remote: true}, func(m *Member) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "badges", Row: m.Badge}, patterns.CopySpec{Unique: true})}, nil
	})
	account := storagetest.Start(nil)
	outbox, err := eventual.NewOutbox(account.Queue("outbox"), "staff", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := patterns.NewTable(account.Tables().NewClient("staff"), &patterns.TableOptions[Member]{Key: memberKey})
	if err != nil {
		fmt.Println(err)
		return
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Member]{
		Views: []patterns.View[Member]{byEmail, byBadge}, Outbox: outbox,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	was := &Member{"Sales", "000223", "jonesj@contoso.com", "B7"}
	now := &Member{"Sales", "000223", "ann@contoso.com", "B7"}
	insert, _ := staff.ExplainChange(nil, was)
	put, _ := staff.ExplainChange(was, now)
	fmt.Printf("%v\n%v", insert, put)
	// Output:
	// insert: 6 transactions in 5 round trips, 4 entities written
	// 1. before    put a message in the outbox queue, reserve unique rows: 2 requests
	//              reserve copy of byBadge
	// 2. atomic    transaction of 3 rows: 1 request
	//              insert primary
	//              insert copy of byEmail
	//              insert outbox row
	// 3. eventual  write the rows elsewhere: 1 request
	//              insert copy of byBadge
	// 4. eventual  delete the outbox row: 1 request
	// 5. eventual  delete the message: 1 request
	//
	// put: 8 transactions in 7 round trips, 5 entities written
	// 1. before    read: 1 request
	//              read primary
	// 2. before    put a message in the outbox queue, read what is to be changed elsewhere: 2 requests
	//              read copy of byBadge
	// 3. atomic    transaction of 4 rows: 1 request
	//              replace primary
	//              insert copy of byEmail
	//              delete copy of byEmail
	//              insert outbox row
	// 4. eventual  write the rows elsewhere: 1 request
	//              replace copy of byBadge
	// 5. eventual  check that the primary is unchanged: 1 request
	// 6. eventual  delete the outbox row: 1 request
	// 7. eventual  delete the message: 1 request
}

// Two employees swap their addresses. All rows change in one transaction.
func ExampleStore_Batch() {
	byEmail := patterns.ViewOf("byEmail", patterns.Shape{}, func(m *Member) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: m.Department, Row: "email_" + m.Email}, patterns.CopySpec{})}, nil
	})
	account := storagetest.Start(nil)
	ctx := context.Background()
	table, err := patterns.NewTable(account.Tables().NewClient("staff"), &patterns.TableOptions[Member]{Key: memberKey})
	if err != nil {
		fmt.Println(err)
		return
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Member]{Views: []patterns.View[Member]{byEmail}})
	if err == nil {
		err = table.Create(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	items, err := staff.Batch().
		Insert(&Member{"Sales", "000223", "ann@contoso.com", "B7"}).
		Insert(&Member{"Sales", "000224", "bob@contoso.com", "B8"}).
		Commit(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	ann, bob := items[0].Value, items[1].Value
	ann.Email, bob.Email = bob.Email, ann.Email
	swapped, err := staff.Batch().PutItem(items[0], &ann).PutItem(items[1], &bob).Commit(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range swapped {
		fmt.Println(item.Value.ID, item.Value.Email)
	}
	// Output:
	// 000223 bob@contoso.com
	// 000224 ann@contoso.com
}
