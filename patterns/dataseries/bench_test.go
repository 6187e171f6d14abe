package dataseries_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// BenchmarkRead reads a whole series, of a day and of a year, as one ring and, by aztables
// only, as a row for each value. Both run alternately. x is the time by aztables divided by
// the time of this package; scanned counts the rows that the service scanned.
//
//	go test -run '^$' -bench Read ./patterns/dataseries
func BenchmarkRead(b *testing.B) {
	now := time.Now().UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	newYear := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		ring  dataseries.Ring
		slots int
		at    func(i int) time.Time
	}{
		{"hours of a day", dataseries.HoursOfDay(), 24, func(i int) time.Time { return midnight.Add(time.Duration(i) * time.Hour) }},
		{"days of a year", dataseries.DaysOfYear(), 365, func(i int) time.Time { return newYear.AddDate(0, 0, i) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx := b.Context()
			account := storagetest.Start(&storagetest.Options{LogLimit: 1 << 10})
			service := account.TablesWith(harness.Accelerated())
			rows, ring := service.NewClient("Rows"), service.NewClient("Rings")
			for _, client := range []*aztables.Client{rows, ring} {
				assert.NoError(b, assert.ErrorOf(client.CreateTable(ctx, nil)))
			}
			series := assert.Must(dataseries.New[int64](ring, c.ring, nil))(b)
			points := make([]dataseries.Point[int64], c.slots)
			for i := range points {
				points[i] = dataseries.Point[int64]{Time: c.at(i), Value: int64(i)}
				assert.NoError(b, addRow(ctx, rows, i))
			}
			assert.NoError(b, series.SetAll(ctx, ken, points))
			ways := []struct {
				name string
				read func() (int, error)
			}{
				{"hand", func() (int, error) { return countRows(ctx, rows) }},
				{"ring", func() (int, error) {
					got, err := series.Get(ctx, ken, c.at(0))
					return len(got), err
				}},
			}
			took, scanned, requests := make([]time.Duration, 2), make([]int, 2), make([]int, 2)
			n := 0
			for b.Loop() {
				for w, way := range ways {
					account.ResetLog()
					start := time.Now()
					got, err := way.read()
					took[w] += time.Since(start)
					if err != nil || got != c.slots {
						b.Fatal(way.name, got, err)
					}
					for _, r := range account.Log() {
						scanned[w] += r.Scanned
						requests[w]++
					}
				}
				n++
			}
			for w, way := range ways {
				b.ReportMetric(float64(took[w].Nanoseconds())/float64(n), way.name+"-ns/read")
				b.ReportMetric(float64(scanned[w])/float64(n), way.name+"-scanned")
				b.ReportMetric(float64(requests[w])/float64(n), way.name+"-requests")
			}
			b.ReportMetric(float64(took[0])/float64(took[1]), "x")
			b.ReportMetric(0, "ns/op")
		})
	}
}

type byHand struct {
	aztables.Entity
	Count     string
	CountType string `json:"Count@odata.type"`
}

func addRow(ctx context.Context, client *aztables.Client, i int) error {
	row := byHand{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: fmt.Sprintf("000123_%03d", i)}, Count: fmt.Sprint(i), CountType: "Edm.Int64"}
	raw, err := json.Marshal(row)
	if err == nil {
		_, err = client.AddEntity(ctx, raw, nil)
	}
	return err
}

func countRows(ctx context.Context, client *aztables.Client) (n int, err error) {
	filter := "PartitionKey eq 'Sales' and RowKey ge '000123_' and RowKey lt '000123`'"
	pager := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return n, err
		}
		for _, raw := range page.Entities {
			var row byHand
			if err := json.Unmarshal(raw, &row); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
