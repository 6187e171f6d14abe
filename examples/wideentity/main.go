// Command wideentity counts the messages of an employee on each day of a year: the wide entities pattern.
//
// Problem: a year has 365 days, and a row at most 252 properties and 1 MiB.
//
// Layout: the entity is stored in several rows of one partition, its parts. The first row contains the version of each
// part, so that a reader never combines parts of two versions.
//
//	PartitionKey  RowKey     Properties
//	Sales         000123_00  versions of the parts
//	Sales         000123_01  MessageCountDay001 to MessageCountDay183
//	Sales         000123_02  MessageCountDay184 to MessageCountDay365
//
// Use it for entities beyond the limits of a row. If only one value is too large, see largeentity. For rows as the guide
// prints them, with 252 properties in each, set wideentity.Options.Plain.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// prefix begins the name of a day's property. The number of the day has a fixed width.
const prefix = "MessageCountDay"

// half returns the part of a property: one for each half of the year.
func half(property string) int {
	day, _ := strconv.Atoi(property[len(prefix):])
	return (day-1)/183 + 1
}

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		log, rows := acct.Log(), 0
		for _, request := range log {
			rows += request.Written
		}
		fmt.Fprintf(w, "%-42s requests: %d %v, rows written: %d\n", step, len(log), log.Ops(), rows)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the parts. Without PartOf, a hash of the name selects the part of a property.
	counts, err := wideentity.New[map[string]any](service.NewClient("Counts"), &wideentity.Options{Parts: 2, PartOf: half})
	if err != nil {
		return err
	}
	if err := counts.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()
	key := keys.Key{Partition: "Sales", Row: "000123"}

	// 2. Insert the year: one transaction.
	year := map[string]any{}
	for day := 1; day <= 365; day++ {
		year[fmt.Sprintf("%s%03d", prefix, day)] = int32(day)
	}
	if _, err := counts.Insert(ctx, key, &year); err != nil {
		return err
	}
	show("insert a year")

	// 3. Read the year: one query of the three rows.
	item, err := counts.Get(ctx, key)
	if err != nil {
		return err
	}
	show("read the year", item.Value["MessageCountDay001"], "to", item.Value["MessageCountDay365"])

	// 4. Change one day: the row with that day and the first row change, if no one has changed the entity meanwhile.
	item.Value["MessageCountDay300"] = int32(1000)
	if _, err := counts.Merge(ctx, item, "MessageCountDay300"); err != nil {
		return err
	}
	show("change a day")

	// 5. Read one day: only the row that contains it.
	part, err := counts.Read(ctx, key, "MessageCountDay300")
	if err != nil {
		return err
	}
	show("read a day", part.Value["MessageCountDay300"])

	// 6. Delete the year: all rows in one transaction.
	if err := counts.Delete(ctx, key, ""); err != nil {
		return err
	}
	show("delete the year")
	return nil
}
