package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

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

// logRows are the operations of a log tail.
func logRows() []Row {
	entries, n := make([]Entry, batchRows), 0
	for i := range entries {
		entries[i] = Entry{"taxi", 10.5, time.Date(2026, 1, 1, 9, 0, i, 0, time.UTC)}
	}
	return []Row{logAppend(), logTail(), {
		Name: "log AppendAll", Unit: "entry", Per: batchRows, Goal: Goal{Ratio: 17, Allocs: 6},
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			var t handTransaction
			for _, e := range entries {
				n++
				rk := fmt.Sprintf("%019d_%012x", 3155378975999999999-e.Filed.UnixNano()/100, n)
				t.insert(handEntry{aztables.Entity{PartitionKey: "000123", RowKey: rk}, e.What, e.Amount, aztables.EDMDateTime(e.Filed), "Edm.DateTime"})
			}
			return t.submit(ctx, table)
		}),
		Ours: with(openLog(nil), func(ctx context.Context, l *logtail.Log[Entry]) error {
			_, err := l.AppendAll(ctx, "000123", entries)
			return err
		}),
		Check: leaves(batchRows),
	}}
}

func openLog(opts *logtail.Options[Entry]) func(*Clients) (*logtail.Log[Entry], error) {
	return func(c *Clients) (*logtail.Log[Entry], error) { return logtail.New(c.Table(), opts) }
}

func logAppend() Row {
	filed, n := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), int64(0)
	return Row{
		Name: "log append", Unit: "entry", Goal: Goal{Ratio: 2.4, Allocs: 72},
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			n++
			ticks := 621355968000000000 + filed.Unix()*1e7 + int64(filed.Nanosecond())/100
			rk := fmt.Sprintf("%019d_%012x", 3155378975999999999-ticks, 1<<48-1-n)
			raw, err := json.Marshal(handEntry{aztables.Entity{PartitionKey: "000123", RowKey: rk}, "taxi", 10.5, aztables.EDMDateTime(filed), "Edm.DateTime"})
			if err != nil {
				return err
			}
			_, err = table.AddEntity(ctx, raw, nil)
			return err
		}),
		Ours: with(openLog(&logtail.Options[Entry]{Time: func(e *Entry) time.Time { return e.Filed }}), func(ctx context.Context, l *logtail.Log[Entry]) error {
			_, err := l.Append(ctx, "000123", &Entry{"taxi", 10.5, filed})
			return err
		}),
		Check: leaves(1),
	}
}

// logTail reads the 100 newest entries of 1,000 in eight partitions. By hand each partition is
// asked for 100, because it may have all of them.
func logTail() Row {
	const stream, buckets, entries, tail = "000123", 8, 1000, 100
	spread := must(keys.NewSpread(buckets))
	return Row{
		Name: "log tail of 100 over 8 buckets", Unit: "entry", Per: tail, Goal: Goal{Ratio: 22, Allocs: 19, Requests: 8.0 / tail},
		Setup: func(ctx context.Context, c *Clients) error {
			var ops []patterns.Op[Entry]
			for i := range entries {
				e := &Entry{"taxi", 10.5, time.Date(2026, 1, 1, 9, 0, i, 0, time.UTC)}
				ticks, err := keys.InvertedTicks(e.Filed)
				if err != nil {
					return err
				}
				rk := fmt.Sprintf("%s_%012x", ticks, entries-i)
				ops = append(ops, patterns.InsertOp(e).At(keys.Key{Partition: spread.Partition(stream, rk), Row: rk}))
			}
			t, err := patterns.NewTable(c.Table(), &patterns.TableOptions[Entry]{Keyless: true})
			if err == nil {
				_, err = t.Bulk(ctx, slices.Values(ops), nil)
			}
			return err
		},
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			newest := make([][]handEntry, buckets)
			g, ctx := errgroup.WithContext(ctx)
			for i, partition := range spread.Partitions(stream) {
				g.Go(func() error {
					pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq '" + partition + "'"), Top: to.Ptr(int32(tail))})
					page, err := pager.NextPage(ctx)
					for _, raw := range page.Entities {
						var e handEntry
						err = errors.Join(err, json.Unmarshal(raw, &e))
						newest[i] = append(newest[i], e)
					}
					return err
				})
			}
			err := g.Wait()
			all := slices.Concat(newest...)
			slices.SortFunc(all, func(a, b handEntry) int { return cmp.Compare(a.RowKey, b.RowKey) })
			return wantCount(min(len(all), tail), tail, err)
		}),
		Ours: with(openLog(&logtail.Options[Entry]{Buckets: buckets}), func(ctx context.Context, l *logtail.Log[Entry]) error {
			return wantAll(l.Tail(ctx, stream, tail), tail)
		}),
	}
}
