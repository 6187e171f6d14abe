package logdata_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// served is the logged message; its line has about 130 bytes.
const served = "GET /orders/4711 served in 12 ms to 203.0.113.9 by backend 3, cache miss"

// row is the same record as an entity.
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
	assert.NoError(b, assert.ErrorOf(c.Create(b.Context(), nil)))
	acct.ResetLog()
	return c
}

func benchTable(b *testing.B, acct *storagetest.Account) *aztables.Client {
	c := acct.Tables().NewClient("logs")
	assert.NoError(b, assert.ErrorOf(c.CreateTable(b.Context(), nil)))
	acct.ResetLog()
	return c
}

// perMillion reports records per second and requests per million records.
func perMillion(b *testing.B, acct *storagetest.Account, records int) {
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(len(acct.Log()))*1e6/float64(records), "requests/Mrecord")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWriting compares 100,000 records written through a Writer with 10,000 entities
// written by aztables, one by one and in transactions of 100.
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
			w := newWriter(b, c, logdata.WriterOptions{})
			for i := range records {
				assert.NoError(b, w.Write(b.Context(), logdata.Record{Time: when(i), Type: "INFO", Message: served}))
			}
			closeWriter(b, w)
		}
		perMillion(b, acct, records*b.N)
	})
	b.Run("entities", func(b *testing.B) {
		acct := storagetest.Start(&storagetest.Options{LogLimit: 1 << 30})
		c := benchTable(b, acct)
		for n := 0; b.Loop(); n++ {
			for i := range records {
				assert.NoError(b, assert.ErrorOf(c.AddEntity(b.Context(), assert.Must(json.Marshal(rowOf("web", when(i), n*records+i)))(b), nil)))
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
					body := assert.Must(json.Marshal(rowOf("web", when(i+j), n*records+i+j)))(b)
					actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
				}
				assert.NoError(b, assert.ErrorOf(c.SubmitTransaction(b.Context(), actions, nil)))
			}
		}
		perMillion(b, acct, records*b.N)
	})
}

// BenchmarkWindow reads two minutes out of a day in which each of four hosts logged a
// record every two seconds: from blobs, and by aztables from a table whose partition key
// is the host, so that writes are spread.
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
			w := newWriter(b, c, logdata.WriterOptions{Name: number(h)})
			for i := range perHost {
				write(b, w, when(i), served)
				if i%60 == 59 {
					flush(b, w)
				}
			}
			closeWriter(b, w)
		}
		acct.ResetLog()
		for b.Loop() {
			assert.Equal(assert.Now(b), len(messages(b, c, from, to)), want, "records")
		}
		report(b, acct)
	})
	b.Run("table", func(b *testing.B) {
		acct := storagetest.Start(nil)
		c := benchTable(b, acct)
		for h := range hosts {
			// Only the rows of the hour are needed: the query reads a range of row keys.
			for i := 15 * 1800; i < 16*1800; i += 100 {
				var actions []aztables.TransactionAction
				for j := range 100 {
					body := assert.Must(json.Marshal(rowOf(number(h), when(i+j), 0)))(b)
					actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
				}
				assert.NoError(b, assert.ErrorOf(c.SubmitTransaction(b.Context(), actions, nil)))
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
					page := assert.Must(pager.NextPage(b.Context()))(b)
					for _, text := range page.Entities {
						var r row
						assert.NoError(b, json.Unmarshal(text, &r))
						n++
					}
				}
			}
			assert.Equal(assert.Now(b), n, want, "rows")
		}
		report(b, acct)
	})
	b.Run("whole day", func(b *testing.B) { // without names and metadata by time
		acct := storagetest.Start(nil)
		c := benchLogs(b, acct)
		for h := range hosts {
			w := newWriter(b, c, logdata.WriterOptions{Name: number(h)})
			for i := range perHost {
				write(b, w, when(i), served)
			}
			closeWriter(b, w)
		}
		acct.ResetLog()
		for b.Loop() {
			n := 0
			for e, err := range newReader(b, c, nil).Query(b.Context(), day, day.Add(24*time.Hour), "", nil) {
				assert.NoError(b, err)
				if !e.Time.Before(from) && e.Time.Before(to) {
					n++
				}
			}
			assert.Equal(assert.Now(b), n, want, "records")
		}
		report(b, acct)
	})
}
