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
	"log"
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

// open declares the parts, and creates the table. Without PartOf, a hash of the name selects the part of a property.
func open(ctx context.Context, client *aztables.Client) (*wideentity.Table[map[string]any], error) {
	counts, err := wideentity.New[map[string]any](client, &wideentity.Options[map[string]any]{Parts: 2, PartOf: half})
	if err != nil {
		return nil, err
	}
	return counts, counts.Create(ctx)
}

// change sets the count of one day of the year that was read: the row with that day and the first row change, if no one
// has changed the entity meanwhile.
func change(ctx context.Context, counts *wideentity.Table[map[string]any], year wideentity.Item[map[string]any], day string, n int32) error {
	year.Value[day] = n
	_, err := counts.Merge(ctx, year, day)
	return err
}

// count reads one day: only the row that contains it.
func count(ctx context.Context, counts *wideentity.Table[map[string]any], key keys.Key, day string) (any, error) {
	part, err := counts.GetOnly(ctx, key, day)
	return part.Value[day], err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	counts, err := open(ctx, acct.TablesWith(&opts).NewClient("Counts"))
	if err != nil {
		log.Fatal(err)
	}
	key := keys.Key{Partition: "Sales", Row: "000123"}
	days := map[string]any{"PartitionKey": key.Partition, "RowKey": key.Row}
	for day := 1; day <= 365; day++ {
		days[fmt.Sprintf("%s%03d", prefix, day)] = int32(day)
	}
	var year wideentity.Item[map[string]any]
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"insert a year", func() (any, error) { // one transaction
			_, err := counts.Insert(ctx, &days)
			return nil, err
		}},
		{"read the year", func() (_ any, err error) { // one query of the three rows
			year, err = counts.Get(ctx, key)
			return fmt.Sprint(year.Value["MessageCountDay001"], " to ", year.Value["MessageCountDay365"]), err
		}},
		{"change a day", func() (any, error) { return nil, change(ctx, counts, year, "MessageCountDay300", 1000) }},
		{"read a day", func() (any, error) { return count(ctx, counts, key, "MessageCountDay300") }},
		{"delete the year", func() (any, error) { return nil, counts.Delete(ctx, key, "") }}, // all rows in one transaction
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		sent, rows := acct.Log(), 0
		for _, request := range sent {
			rows += request.Written
		}
		fmt.Printf("%-42s requests: %d %v, rows written: %d\n", step.name, len(sent), sent.Ops(), rows)
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
