package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns/logtail"
)

// patternRows are the operations of the patterns that are no Stores.
func patternRows() []Row {
	return []Row{logAppend()}
}

// Entry is an entry of a log. It has no keys.
type Entry struct {
	What   string
	Amount float64
	Filed  time.Time
}

type handEntry struct {
	aztables.Entity
	What      string
	Amount    float64
	Filed     aztables.EDMDateTime
	FiledType string `json:"Filed@odata.type"`
}

func logAppend() Row {
	filed := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	return Row{
		Name: "log append", Unit: "entry", Goal: Goal{Ratio: 2.4, Allocs: 72},
		Hand: func(c *Clients) (Run, error) {
			table, n := c.Table(), int64(0)
			return func(ctx context.Context) error {
				n++
				ticks := 621355968000000000 + filed.Unix()*1e7 + int64(filed.Nanosecond())/100
				rk := fmt.Sprintf("%019d_%012x", 3155378975999999999-ticks, 1<<48-1-n)
				raw, err := json.Marshal(handEntry{aztables.Entity{PartitionKey: "000123", RowKey: rk}, "taxi", 10.5, aztables.EDMDateTime(filed), "Edm.DateTime"})
				if err != nil {
					return err
				}
				_, err = table.AddEntity(ctx, raw, nil)
				return err
			}, nil
		},
		Ours: func(c *Clients) (Run, error) {
			l, err := logtail.New(c.Table(), &logtail.Options[Entry]{Time: func(e *Entry) time.Time { return e.Filed }})
			return func(ctx context.Context) error {
				_, err := l.Append(ctx, "000123", &Entry{"taxi", 10.5, filed})
				return err
			}, err
		},
		Check: func(ctx context.Context, c *Clients) error { return hasRows(ctx, c.Table(), 1) },
	}
}
