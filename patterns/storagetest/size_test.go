package storagetest_test

import (
	"runtime"
	"testing"
)

// BenchmarkMemory reports the memory that a stored row of 13 properties and about 400 bytes
// of JSON takes.
func BenchmarkMemory(b *testing.B) {
	const rows = 20_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		acct := filled(b, rows)
		b.ReportMetric(float64(heap()-before)/rows, "B/row")
		runtime.KeepAlive(acct)
	}
}
