package dataseries_test

import (
	"context"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Messages are counted by the hour. A day is read in one request.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Messages")

	messages, err := dataseries.New[int64](client, dataseries.HoursOfDay(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages.Create(ctx)
	ken := dataseries.ID{Partition: "Sales", Series: "000123"}
	day := time.Date(2014, 7, 31, 0, 0, 0, 0, time.UTC)
	messages.Add(ctx, ken, day.Add(9*time.Hour+10*time.Minute), 1)
	messages.Add(ctx, ken, day.Add(9*time.Hour+50*time.Minute), 2)
	messages.Set(ctx, ken, day.Add(17*time.Hour), 40)

	points, err := messages.Get(ctx, ken, day)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range points {
		fmt.Println(p.Time.Format("15:04"), p.Value)
	}
	// Output:
	// 09:00 3
	// 17:00 40
}
