package logdata_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// served is what the benchmarks log; its line has about 130 bytes.
const served = "GET /orders/4711 served in 12 ms to 203.0.113.9 by backend 3, cache miss"

// row is the same record as an entity, as a program writes it by hand.
type row struct {
	PartitionKey, RowKey string
	Time                 string
	Level, Message       string
}

func rowOf(partition string, when time.Time, n int) row {
	return row{partition, fmt.Sprintf("%s_%08d", when.Format("2006-01-02T15:04:05.0000000Z"), n), when.Format(time.RFC3339Nano), "INFO", served}
}

func benchLogs(b *testing.B, acct *storagetest.Account) *container.Client {
	c := acct.Container("logs")
	if _, err := c.Create(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	acct.ResetLog()
	return c
}

func benchTable(b *testing.B, acct *storagetest.Account) *aztables.Client {
	c := acct.Tables().NewClient("logs")
	if _, err := c.CreateTable(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	acct.ResetLog()
	return c
}

// perMillion reports records a second and requests of a million records.
func perMillion(b *testing.B, acct *storagetest.Account, records int) {
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(len(acct.Log()))*1e6/float64(records), "requests/Mrecord")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWriting compares writing 100,000 records through a Writer with 10,000
// entities by hand, one by one and in batches of 100.
//
//	go test -run '^$' -bench Writing -benchtime 3x ./patterns/logdata
func BenchmarkWriting(b *testing.B) {
	const records = 10_000
	when := func(i int) time.Time { return noon.Add(time.Duration(i) * time.Millisecond) }
	b.Run("logdata", func(b *testing.B) {
		const records = 10 * records
		acct := storagetest.Start(nil)
		c := benchLogs(b, acct)
		for b.Loop() {
			w := newWriter(b, c, logdata.Options{})
			for i := range records {
				if err := w.Write(b.Context(), logdata.Record{Time: when(i), Type: "INFO", Message: served}); err != nil {
					b.Fatal(err)
				}
			}
			closed(b, w)
		}
		perMillion(b, acct, records*b.N)
	})
	b.Run("entities", func(b *testing.B) {
		acct := storagetest.Start(&storagetest.Options{LogLimit: 1 << 30})
		c := benchTable(b, acct)
		for n := 0; b.Loop(); n++ {
			for i := range records {
				if _, err := c.AddEntity(b.Context(), must(json.Marshal(rowOf("web", when(i), n*records+i))), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMillion(b, acct, records*b.N)
	})
	b.Run("batches", func(b *testing.B) {
		acct := storagetest.Start(nil)
		c := benchTable(b, acct)
		for n := 0; b.Loop(); n++ {
			for i := 0; i < records; i += 100 {
				var actions []aztables.TransactionAction
				for j := range 100 {
					body := must(json.Marshal(rowOf("web", when(i+j), n*records+i+j)))
					actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
				}
				if _, err := c.SubmitTransaction(b.Context(), actions, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMillion(b, acct, records*b.N)
	})
}

// BenchmarkWindow compares reading two minutes out of a day of which four hosts have
// each logged a record every two seconds: from blobs, and from a table by hand whose
// PartitionKey is the host, so that writing is not hot.
func BenchmarkWindow(b *testing.B) {
	const hosts, perHost, want = 4, 43_200, 4 * 60
	day := noon.Add(-12 * time.Hour)
	when := func(i int) time.Time { return day.Add(time.Duration(2*i) * time.Second) }
	from := day.Add(15*time.Hour + 4*time.Minute)
	to := from.Add(2 * time.Minute)
	report := func(b *testing.B, acct *storagetest.Account) {
		var bytes int64
		for _, q := range acct.Log() {
			bytes += q.ReplyBytes
		}
		b.ReportMetric(float64(len(acct.Log()))/float64(b.N), "requests/op")
		b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
	}
	b.Run("logdata", func(b *testing.B) {
		acct := storagetest.Start(nil)
		c := benchLogs(b, acct)
		for h := range hosts {
			w := newWriter(b, c, logdata.Options{Name: number(h)})
			for i := range perHost {
				write(b, w, when(i), served)
				if i%60 == 59 {
					flush(b, w)
				}
			}
			closed(b, w)
		}
		acct.ResetLog()
		for b.Loop() {
			if n := len(messages(b, c, from, to)); n != want {
				b.Fatalf("%d records", n)
			}
		}
		report(b, acct)
	})
	b.Run("table", func(b *testing.B) {
		acct := storagetest.Start(nil)
		c := benchTable(b, acct)
		for h := range hosts {
			// The rows outside of the hour are not looked at: a range of RowKeys.
			for i := 15 * 1800; i < 16*1800; i += 100 {
				var actions []aztables.TransactionAction
				for j := range 100 {
					body := must(json.Marshal(rowOf(number(h), when(i+j), 0)))
					actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
				}
				if _, err := c.SubmitTransaction(b.Context(), actions, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		acct.ResetLog()
		for b.Loop() {
			n := 0
			for h := range hosts {
				filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s' and RowKey lt '%s'", number(h),
					from.Format("2006-01-02T15:04:05"), to.Format("2006-01-02T15:04:05"))
				pager := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
				for pager.More() {
					page, err := pager.NextPage(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					for _, text := range page.Entities {
						var r row
						if err := json.Unmarshal(text, &r); err != nil {
							b.Fatal(err)
						}
						n++
					}
				}
			}
			if n != want {
				b.Fatalf("%d rows", n)
			}
		}
		report(b, acct)
	})
	b.Run("whole day", func(b *testing.B) { // what a log without names and metadata by time takes
		acct := storagetest.Start(nil)
		c := benchLogs(b, acct)
		for h := range hosts {
			w := newWriter(b, c, logdata.Options{Name: number(h)})
			for i := range perHost {
				write(b, w, when(i), served)
			}
			closed(b, w)
		}
		acct.ResetLog()
		for b.Loop() {
			n := 0
			for e, err := range newReader(b, c, nil).Read(b.Context(), logdata.Query{From: day, To: day.Add(24 * time.Hour)}) {
				if err != nil {
					b.Fatal(err)
				}
				if !e.Time.Before(from) && e.Time.Before(to) {
					n++
				}
			}
			if n != want {
				b.Fatalf("%d records", n)
			}
		}
		report(b, acct)
	})
}
