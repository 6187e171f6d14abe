package blob_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

func BenchmarkPut1KiB(b *testing.B) {
	s := filled(b)
	data := strings.Repeat("x", 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		servicetest.Send(b, s, "PUT", "/c11/n", data, "x-ms-blob-type", "BlockBlob").Want(b, 201, "")
	}
}

// BenchmarkReadRange reads 1 KiB from the middle of 10,000 blocks.
func BenchmarkReadRange(b *testing.B) {
	s := filled(b)
	data := strings.Repeat("x", 1<<10)
	for range 10_000 {
		servicetest.Send(b, s, "PUT", "/c11/a?comp=appendblock", data)
	}
	b.ReportAllocs()
	for b.Loop() {
		servicetest.Send(b, s, "GET", "/c11/a", "", "Range", "bytes=5000000-5001023").Want(b, 206, "")
	}
}

// BenchmarkListPage lists 100 of 10,000 blobs.
func BenchmarkListPage(b *testing.B) {
	s := filled(b)
	for i := range 10_000 {
		servicetest.Send(b, s, "PUT", fmt.Sprintf("/c11/n%05d", i), "x", "x-ms-blob-type", "BlockBlob")
	}
	b.ReportAllocs()
	for b.Loop() {
		servicetest.Send(b, s, "GET", "/c11?restype=container&comp=list&maxresults=100&prefix=n05", "").Want(b, 200, "")
	}
}
