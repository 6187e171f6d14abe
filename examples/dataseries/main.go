// Command dataseries counts the messages of an employee by the hour: the data series pattern.
//
// Problem: with one row for each hour, drawing the chart of a day reads 24 rows.
//
// Layout: one row for the whole day, with a property for each hour. The next day uses the same properties: the turn, the
// number of the day, shows to which day a value belongs.
//
//	PartitionKey  RowKey   Value009  Turn009  Value021  Turn021
//	Sales         000123_  2         47328    7         47328
//
// Use it if the values of a series are read together. For the names of the guide, MessageCountHour01 to
// MessageCountHour24, set dataseries.Options.Property.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// open declares the ring, 24 slots of an hour each, and creates the table.
func open(ctx context.Context, client *aztables.Client) (*dataseries.Series[int64], error) {
	messages, err := dataseries.New[int64](client, dataseries.HoursOfDay(), nil)
	if err != nil {
		return nil, err
	}
	return messages, messages.Create(ctx)
}

// chart reads a day: one row. Hours without a value are omitted. The values of another day are not taken for those of
// this one, although they have the same properties.
func chart(ctx context.Context, messages *dataseries.Series[int64], id dataseries.ID, day time.Time) (hours []string, err error) {
	points, err := messages.Get(ctx, id, day)
	for _, p := range points {
		hours = append(hours, fmt.Sprintf("%s %d", p.Time.Format("15h"), p.Value))
	}
	return hours, err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	opts.Retry.RetryDelay = time.Millisecond // so that a lost reply takes no time
	patterns.Accelerate(&opts.ClientOptions)
	messages, err := open(ctx, acct.TablesWith(&opts).NewClient("Messages"))
	if err != nil {
		log.Fatal(err)
	}
	ken := dataseries.ID{Partition: "Sales", Series: "000123"}
	day := time.Date(2099, 7, 31, 0, 0, 0, 0, time.UTC) // storing a value of a day that has ended takes two requests
	hour := func(h int) time.Time { return day.Add(time.Duration(h) * time.Hour) }
	// Set stores an absolute value, which is merged into the row without a read, and can be repeated. Add reads the row,
	// and changes it if it is still the same. The row contains the ids of the last additions, so one whose reply is lost
	// is neither lost nor made twice.
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"set an hour", func() (any, error) { return nil, messages.Set(ctx, ken, hour(23), 40) }},
		{"set two hours", func() (any, error) {
			return nil, messages.SetAll(ctx, ken, []dataseries.Point[int64]{{Time: hour(21), Value: 7}, {Time: hour(22), Value: 12}})
		}},
		{"add 1 to an hour", func() (any, error) { return nil, messages.Add(ctx, ken, hour(9), 1) }},
		{"add 1 again, the reply is lost", func() (any, error) {
			if err := acct.Fault(storagetest.On("Table.Merge").Nth(1).LoseReply()); err != nil {
				return nil, err
			}
			return nil, messages.Add(ctx, ken, hour(9), 1)
		}},
		{"read the day", func() (any, error) { return chart(ctx, messages, ken, day) }},
		{"read the day before", func() (any, error) {
			hours, err := chart(ctx, messages, ken, day.AddDate(0, 0, -1))
			return fmt.Sprint(len(hours), " values"), err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
