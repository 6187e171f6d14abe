package reindex_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

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
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := storagetest.Start(nil).TablesWith(&opts)
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
	email := secondaryindex.Intra("email", func(c *Contact) (string, bool) { return c.Email, true }, nil)
	contacts, err := patterns.NewStore(table, &patterns.StoreOptions[Contact]{Views: []patterns.View[Contact]{email}})
	if err != nil {
		log.Fatal(err)
	}

	report, err := reindex.Backfill(ctx, contacts, "email", "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Filled, "contacts, fewer than 20 requests:", report.Requests.Total() < 20)

	if _, err := service.NewClient("Contacts").DeleteEntity(ctx, "c", "id_007", nil); err != nil {
		log.Fatal(err)
	}
	for finding, err := range reindex.Verify(ctx, contacts, "", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(finding.Kind, finding.View, finding.Row.Row)
	}
	report, err = reindex.Repair(ctx, contacts, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Repaired, "repaired")
	// Output:
	// 100 contacts, fewer than 20 requests: true
	// orphan email email_c7@contoso.com
	// 1 repaired
}

// A program on aztables has stored employees with copies by e-mail address, as the design guide
// prints them, and times in the local zone. Some rows are older than the field Phone.
func ExampleSurvey() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")
	if _, err := client.CreateTable(ctx, nil); err != nil {
		log.Fatal(err)
	}
	for _, row := range []string{
		`{"PartitionKey":"Sales","RowKey":"empid_000223","Name":"Jones","Hired":"2026-03-01T00:00:00+02:00","EmailAddress":"jonesj@contoso.com"}`,
		`{"PartitionKey":"Sales","RowKey":"email_jonesj@contoso.com","Name":"Jones","Hired":"2026-03-01T00:00:00+02:00","EmployeeId":"000223"}`,
		`{"PartitionKey":"Sales","RowKey":"empid_000224","Name":"Kwok","Hired":"2026-03-02T00:00:00Z","EmailAddress":"kenk@contoso.com","Phone":"1"}`,
		`{"PartitionKey":"Sales","RowKey":"email_kenk@contoso.com","Name":"Kwok","Hired":"2026-03-02T00:00:00Z","EmployeeId":"000224","Phone":"1"}`,
	} {
		if _, err := client.AddEntity(ctx, []byte(row), nil); err != nil {
			log.Fatal(err)
		}
	}

	report, err := reindex.Survey(ctx, client, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := report.WriteGo(os.Stdout, "staff"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// // Package staff has the Go types and options for a table.
	// package staff
	//
	// import (
	// 	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	// 	"github.com/azpatterns/azpatterns/keys"
	// 	"github.com/azpatterns/azpatterns/patterns"
	// 	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	// 	"github.com/azpatterns/azpatterns/query"
	// 	"strings"
	// 	"time"
	// )
	//
	// // Rows of the table that were read: 4.
	//
	// // Empid is the type of these rows. Number: 2.
	// //
	// //	PartitionKey: "Sales"
	// //	RowKey: "empid_" and digits of width 6, 2 distinct
	// //	"EmailAddress": in all, 2 Edm.String
	// //	"EmployeeId": missing in 2
	// //	"Hired": in all, 2 Edm.String, 2 time, 1 zoned time
	// //	"Name": in all, 2 Edm.String
	// //	"Phone": missing in 1, 1 Edm.String, 1 int64
	// type Empid struct {
	// 	PartitionKey, RowKey string
	// 	EmailAddress         string    `table:",omitempty"`
	// 	EmployeeId           string    `table:",omitempty"`
	// 	Hired                time.Time `table:",string"`
	// 	Name                 string
	// 	Phone                string `table:",omitempty"`
	// }
	//
	// // OpenEmpid opens the rows with their indexes. The outbox may be nil if all indexes are in the partitions of the entities.
	// func OpenEmpid(client *aztables.Client, outbox patterns.OutboxQueue) (*patterns.Store[Empid], error) {
	// 	table, err := patterns.NewTable[Empid](client, nil)
	// 	if err != nil {
	// 		return nil, err
	// 	}
	// 	view0 := secondaryindex.Intra("email", func(e *Empid) (string, bool) {
	// 		value := e.EmailAddress
	// 		return value, value != ""
	// 	}, &secondaryindex.Options[Empid]{
	// 		Copy: func(e *Empid) Empid {
	// 			c := *e
	// 			value := strings.TrimPrefix(e.RowKey, "empid_")
	// 			c.EmployeeId = value
	// 			c.EmailAddress = ""
	// 			return c
	// 		},
	// 		Owner: func(e *Empid, at keys.Key) (keys.Key, bool) {
	// 			value := e.EmployeeId
	// 			return keys.Key{Partition: at.Partition, Row: "empid_" + value}, value != ""
	// 		},
	// 	})
	// 	return patterns.NewStore(table, &patterns.StoreOptions[Empid]{
	// 		Views:  []patterns.View[Empid]{view0},
	// 		Outbox: outbox,
	// 		// Rows whose keys have another form are no entities.
	// 		Primaries: query.And(query.RowKey.Prefix("empid_")),
	// 	})
	// }
	//
	// // Rows of Empid, see package secondaryindex. Number: 2.
	// //
	// //	PartitionKey: "Sales"
	// //	RowKey: "email_" and mail, 2 distinct
	// //	"EmployeeId": in all, 2 Edm.String
	// //	"Hired": in all, 2 Edm.String, 2 time, 1 zoned time
	// //	"Name": in all, 2 Edm.String
	// //	"Phone": missing in 1, 1 Edm.String, 1 int64
}
