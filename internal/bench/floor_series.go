package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

const hours = 24

func seriesRows() []Row {
	// The rows of both ways have the same properties: a value and a turn for each hour.
	id, start := dataseries.ID{Partition: "Contoso", Series: "000123"}, time.Now().UTC().Truncate(24*time.Hour)
	series := func(c *Clients) (*dataseries.Series[int64], error) {
		return dataseries.New[int64](c.Table(), dataseries.HoursOfDay(), nil)
	}
	setup := func(ctx context.Context, c *Clients) error {
		s, err := series(c)
		points := make([]dataseries.Point[int64], hours)
		for i := range points {
			points[i] = dataseries.Point[int64]{Time: start.Add(time.Duration(i) * time.Hour), Value: int64(1000 + i)}
		}
		if err == nil {
			err = s.SetAll(ctx, id, points)
		}
		return err
	}
	return []Row{{
		Name: "series add", Unit: "operation", Goal: Goal{Ratio: 3.5, Allocs: 190, Requests: 2}, Setup: setup,
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			e, etag, err := handGetVersion[aztables.EDMEntity](ctx, table, "Contoso", "000123_")
			if err != nil {
				return err
			}
			value, _ := e.Properties["Value003"].(aztables.EDMInt64)
			next := aztables.EDMEntity{
				Entity:     aztables.Entity{PartitionKey: e.PartitionKey, RowKey: e.RowKey},
				Properties: map[string]any{"Value003": value + 1, "Turn003": e.Properties["Turn003"]},
			}
			raw, err := json.Marshal(next)
			if err == nil {
				_, err = table.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeMerge})
			}
			return err
		}),
		Ours: with(series, func(ctx context.Context, s *dataseries.Series[int64]) error {
			return s.Add(ctx, id, start.Add(3*time.Hour), 1)
		}),
	}, {
		Name: "series read, 24 values", Unit: "operation", Goal: Goal{Ratio: 5, Allocs: 102, Requests: 1}, Setup: setup,
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			e, err := handGet[aztables.EDMEntity](ctx, table, "Contoso", "000123_")
			n := 0
			for i := range hours {
				if _, ok := e.Properties[fmt.Sprintf("Value%03d", i)].(aztables.EDMInt64); ok {
					n++
				}
			}
			return wantCount(n, hours, err)
		}),
		Ours: with(series, func(ctx context.Context, s *dataseries.Series[int64]) error {
			points, err := s.Get(ctx, id, start.Add(time.Hour))
			return wantCount(len(points), hours, err)
		}),
	}}
}

// wideRows change one of 1,000 properties. By hand, too, a row with a version belongs to the
// entity and changes with every write.
func wideRows() []Row {
	key := keys.Key{Partition: "Contoso", Row: "2026"}
	open := func(c *Clients) (*wideentity.Table[map[string]any], error) {
		return wideentity.New[map[string]any](c.Table(), nil)
	}
	setup := func(ctx context.Context, c *Clients) error {
		days := map[string]any{"PartitionKey": key.Partition, "RowKey": key.Row}
		for i := range 1000 {
			days[fmt.Sprintf("Day%04d", i)] = float64(i)
		}
		table, err := open(c)
		if err == nil {
			_, err = table.Insert(ctx, &days)
		}
		return err
	}
	const part = "2026_03" // one of 16
	write := func(ctx context.Context, table *aztables.Client, conditional int, etag azcore.ETag, row any) error {
		var t handTransaction
		for _, r := range []any{map[string]string{"PartitionKey": key.Partition, "RowKey": "2026_00"}, row} {
			t.add(aztables.TransactionTypeUpdateMerge, r, nil)
		}
		t.actions[conditional].IfMatch = &etag
		return t.submit(ctx, table)
	}
	return []Row{{
		Name: "wide Merge, 1 of 1,000", Unit: "operation", Goal: Goal{Ratio: 4.5, Allocs: 125, Requests: 1}, Setup: setup,
		Hand: func(c *Clients) (Run, error) {
			table := c.Table()
			version, err := c.direct().Table().GetEntity(context.Background(), key.Partition, "2026_00", nil)
			return func(ctx context.Context) error {
				return write(ctx, table, 0, version.ETag, map[string]any{"PartitionKey": key.Partition, "RowKey": part, "Day0000": 12.5})
			}, err
		},
		Ours: func(c *Clients) (Run, error) {
			reader, err := open(c.direct())
			if err != nil {
				return nil, err
			}
			item, err := reader.Get(context.Background(), key)
			if err != nil {
				return nil, err
			}
			item.Value["Day0000"] = 12.5
			table, err := open(c)
			return func(ctx context.Context) error {
				_, err := table.Merge(ctx, item, "Day0000")
				return err
			}, err
		},
	}, {
		// By hand the row of the property is read, to change it under its ETag.
		Name: "wide Merge of any version, 1 of 1,000", Unit: "operation", Goal: Goal{Ratio: 8, Allocs: 215, Requests: 2}, Setup: setup,
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			e, etag, err := handGetVersion[aztables.EDMEntity](ctx, table, key.Partition, part)
			if err != nil {
				return err
			}
			return write(ctx, table, 1, etag, map[string]any{"PartitionKey": e.PartitionKey, "RowKey": e.RowKey, "Day0000": 12.5})
		}),
		Ours: with(open, func(ctx context.Context, table *wideentity.Table[map[string]any]) error {
			_, err := table.Merge(ctx, wideentity.Item[map[string]any]{Key: key, ETag: azcore.ETagAny, Value: map[string]any{"Day0000": 12.5}}, "Day0000")
			return err
		}),
	}}
}
