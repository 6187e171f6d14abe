package reindex_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Contact is found by e-mail address.
type Contact struct {
	PartitionKey, RowKey string
	Email                string
}

// The table has a hundred rows before the index is added. Later a program deletes a row of
// the table, but not its copy.
func Example() {
	ctx := context.Background()
	service := storagetest.Start(nil).TablesWith(patterns.Accelerate(nil))
	table, err := patterns.NewTable[Contact](service.NewClient("Contacts"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for i := range 100 {
		if _, err := table.Insert(ctx, &Contact{"c", fmt.Sprintf("id_%03d", i), fmt.Sprintf("c%d@contoso.com", i)}); err != nil {
			log.Fatal(err)
		}
	}
	email, err := secondaryindex.Intra("email", func(c *Contact) (string, bool) { return c.Email, true }, nil)
	if err != nil {
		log.Fatal(err)
	}
	contacts, err := patterns.NewStore(table, &patterns.StoreOptions[Contact]{Views: []patterns.View[Contact]{email}})
	if err != nil {
		log.Fatal(err)
	}

	report, err := reindex.Backfill(ctx, contacts, "email", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Filled, "contacts,", report.Requests.Total(), "requests")

	if _, err := service.NewClient("Contacts").DeleteEntity(ctx, "c", "id_007", nil); err != nil {
		log.Fatal(err)
	}
	for finding, err := range reindex.Verify(ctx, contacts, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(finding.Kind, finding.View, finding.Row.Row)
	}
	report, err = reindex.Repair(ctx, contacts, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Repaired, "repaired")
	// Output:
	// 100 contacts, 9 requests
	// orphan email email_c7@contoso.com
	// 1 repaired
}
