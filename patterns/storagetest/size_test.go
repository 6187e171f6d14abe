package storagetest_test

import (
	"runtime"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// rowSize returns the memory that each of n rows of 13 properties and about 400 bytes of JSON
// takes, after a query has returned all of them.
func rowSize(tb testing.TB, n int) int64 {
	tb.Helper()
	before := held()
	acct := storagetest.Start(&storagetest.Options{LogLimit: 10})
	store(tb, acct, n)
	pager := acct.Tables().NewClient("bench").NewListEntitiesPager(nil)
	rows := 0
	for pager.More() {
		page := assert.Must(pager.NextPage(tb.Context()))(tb)
		rows += len(page.Entities)
	}
	assert.Equal(assert.Now(tb), rows, n, "of", "rows")
	size := (held() - before) / int64(n)
	runtime.KeepAlive(acct)
	return size
}

func TestARowTakesAtMost250BytesAlsoAfterAScan(t *testing.T) {
	documented(t) // without a secondary
	if size := rowSize(t, 20_000); size > 250 {
		t.Errorf("a row takes %d bytes", size)
	}
}

// BenchmarkMemory reports the memory of b.N rows, after a scan.
func BenchmarkMemory(b *testing.B) {
	b.ReportMetric(float64(rowSize(b, b.N)), "B/row")
}
