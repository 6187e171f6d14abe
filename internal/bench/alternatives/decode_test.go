// Package alternatives compares the library's page decoder with the fastest JSON library
// that can do the same, and package govern with another adaptive limit. It is a separate
// module, so that users of the library do not get these dependencies:
//
//	cd internal/bench/alternatives && go test -bench .
package alternatives

import (
	"reflect"
	"testing"
	"time"

	"github.com/goccy/go-json"

	"github.com/azpatterns/azpatterns/internal/bench"
	"github.com/azpatterns/azpatterns/internal/edm"
)

const rows = 1000

// row is a row as a JSON library decodes it: numbers in strings by a struct tag, times by
// the methods of their Go type. Annotations are skipped without a check.
type row struct {
	ETag           string `json:"odata.etag"`
	PartitionKey   string
	RowKey         string
	Timestamp      time.Time
	FirstName      string
	LastName       string
	EmailAddress   string
	Department     string
	Title          string
	Office         string
	Age            int32
	Active         bool
	Salary         float64
	EmployeeNumber int64 `json:",string"`
	HiredAt        time.Time
	Badge          string
}

func BenchmarkDecodePage(b *testing.B) {
	body := bench.Page(rows)
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
	}
	b.Run("wire", func(b *testing.B) {
		codec, err := edm.CodecFor(reflect.TypeFor[bench.Employee]())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			employees, meta, n := make([]bench.Employee, rows), make([]edm.Meta, rows), 0
			err := codec.DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
				n++
				return &employees[n-1], &meta[n-1], nil
			})
			if err != nil || n != rows {
				b.Fatal(n, err)
			}
		}
		perRow(b)
	})
	b.Run("goccy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page := struct{ Value []row }{make([]row, 0, rows)}
			if err := json.Unmarshal(body, &page); err != nil || len(page.Value) != rows {
				b.Fatal(len(page.Value), err)
			}
		}
		perRow(b)
	})
}
