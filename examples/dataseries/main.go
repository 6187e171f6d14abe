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
	"io"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

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
	opts.Retry.RetryDelay = time.Millisecond // so that the lost reply in step 3 takes no time
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the ring: 24 slots of an hour each.
	messages, err := dataseries.New[int64](service.NewClient("Messages"), dataseries.HoursOfDay(), nil)
	if err != nil {
		return err
	}
	if err := messages.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()
	ken := dataseries.ID{Partition: "Sales", Series: "000123"}
	day := time.Date(2099, 7, 31, 0, 0, 0, 0, time.UTC) // storing a value of a day that has ended takes two requests
	hour := func(h int) time.Time { return day.Add(time.Duration(h) * time.Hour) }

	// 2. Store values: absolute values are merged into the row without a read, and can be repeated.
	if err := messages.Set(ctx, ken, hour(23), 40); err != nil {
		return err
	}
	show("set an hour")
	err = messages.SetAll(ctx, ken, []dataseries.Point[int64]{{Time: hour(21), Value: 7}, {Time: hour(22), Value: 12}})
	if err != nil {
		return err
	}
	show("set two hours")

	// 3. Count a message: the row is read, and changed if it is still the same. The row contains the ids of the last
	// additions, so one whose reply is lost is neither lost nor made twice.
	if err := messages.Add(ctx, ken, hour(9), 1); err != nil {
		return err
	}
	show("add 1 to an hour")
	if err := acct.Fault(storagetest.On("Table.Merge").Nth(1).LoseReply()); err != nil {
		return err
	}
	if err := messages.Add(ctx, ken, hour(9), 1); err != nil {
		return err
	}
	show("add 1 again, the reply is lost")

	// 4. Read the day: one row. Hours without a value are omitted.
	points, err := messages.Read(ctx, ken, day)
	if err != nil {
		return err
	}
	var chart []string
	for _, p := range points {
		chart = append(chart, fmt.Sprintf("%s %d", p.Time.Format("15h"), p.Value))
	}
	show("read the day", chart)

	// 5. Yesterday's values are not taken for today's, although they have the same properties.
	points, err = messages.Read(ctx, ken, day.AddDate(0, 0, -1))
	if err != nil {
		return err
	}
	show("read the day before", len(points), "values")
	return nil
}
