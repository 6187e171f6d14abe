//go:build unix

package regions_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

const cannedRow = `{"odata.etag":"W/\"datetime'2026-01-02T03%3A04%3A05.0000000Z'\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-01-02T03:04:05Z","N@odata.type":"Edm.Int64","N":"1"}`

// cannedReply answers each read with the same reply.
func cannedReply(req *http.Request) (*http.Response, error) {
	text := cannedRow
	if strings.HasSuffix(req.URL.Path, "()") {
		text = `{"value":[` + cannedRow + strings.Repeat(","+cannedRow, 99) + `]}`
	}
	h := http.Header{"Content-Type": {"application/json;odata=minimalmetadata"}, "Etag": {`W/"datetime'2026-01-02T03%3A04%3A05.0000000Z'"`}}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: req}, nil
}

// pairOfReads returns the ways to make a plain and a permitted read, of a row or a page.
func pairOfReads(tb testing.TB, accelerated, page bool) (plain, permitted func() error) {
	client := harness.Open(tb, storagetest.Start(nil).ConnectionString(), "Rows", accelerated, attached(new(regions.Pair), harness.Transport(cannedReply)))
	rows := assert.Must(patterns.NewTable[row](client, nil))(tb)
	table := assert.Must(regions.NewTable(rows, nil))(tb)
	if ctx, f := tb.Context(), query.PartitionKey.Eq("p"); page {
		return func() error { return assert.ErrorOf(rows.Page(ctx, f, "", nil)) }, func() error { return assert.ErrorOf(table.Page(ctx, f, "", nil)) }
	} else {
		key := keys.Key{Partition: "p", Row: "r"}
		return func() error { return assert.ErrorOf(rows.Get(ctx, key)) }, func() error { return assert.ErrorOf(table.Get(ctx, key)) }
	}
}

func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	assert.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costs returns the processor time of a plain and of a permitted read. They are measured alternately,
// so that other load affects both.
func costs(tb testing.TB, accelerated, page bool) (plain, permitted time.Duration) {
	one, other := pairOfReads(tb, accelerated, page)
	reads := 400
	if page {
		reads = 40
	}
	cost := func(read func() error) time.Duration {
		began := cpuTime(tb)
		for range reads {
			assert.NoError(tb, read())
		}
		return (cpuTime(tb) - began) / time.Duration(reads)
	}
	var a, b []time.Duration
	for range 100 {
		a, b = append(a, cost(one)), append(b, cost(other))
	}
	slices.Sort(a)
	slices.Sort(b)
	return a[len(a)/4], b[len(b)/4] // of turns with little disturbance
}

// BenchmarkPermittedRead prints the processor time of permitted reads divided by that of plain ones. The
// replies come from memory.
func BenchmarkPermittedRead(b *testing.B) {
	for _, accelerated := range []bool{false, true} {
		for _, page := range []bool{false, true} {
			b.Run(fmt.Sprintf("accelerated=%v/page=%v", accelerated, page), func(b *testing.B) {
				for range b.N {
					plain, permitted := costs(b, accelerated, page)
					b.ReportMetric(float64(plain.Nanoseconds()), "plain-ns")
					b.ReportMetric(float64(permitted)/float64(plain), "ratio")
				}
			})
		}
	}
}
