//go:build goexperiment.jsonv2

package wire

import (
	"encoding/json/v2"
	"testing"
	"time"

	"github.com/google/uuid"
)

// BenchmarkDecodePageJSONv2 is the best that the standard library has for the page of
// BenchmarkDecodePage: GOEXPERIMENT=jsonv2 go test -bench DecodePage ./internal/wire
func BenchmarkDecodePageJSONv2(b *testing.B) {
	type row struct {
		PartitionKey, RowKey string
		Timestamp            time.Time
		ETag                 string `json:"odata.etag"`
		FirstName            string
		LastName             string
		Email                string
		Department           string
		City                 string
		Title                string
		Level                int32
		Badge                int64 `json:",string"`
		Salary               float64
		Rating               float64
		Active               bool
		Hired                time.Time
		Device               uuid.UUID
		Photo                []byte
	}
	page := benchPage(b)
	b.ReportAllocs()
	for b.Loop() {
		var out struct {
			Value []row `json:"value"`
		}
		if err := json.Unmarshal(page, &out); err != nil || len(out.Value) != 1000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
