package auth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

func BenchmarkVerify(b *testing.B) {
	date := time.Now().UTC().Format(http.TimeFormat)
	requests := map[string]*http.Request{
		"SharedKeyLite": handSigned("GET", "https://acct.table.core.windows.net/T(PartitionKey='a',RowKey='b')?$format=x", "SharedKeyLite",
			date+"\n/acct/T(PartitionKey='a',RowKey='b')", "x-ms-date", date),
		"SAS": tableRequest(tableSAS("spk", "a", "epk", "b")),
	}
	for name, r := range requests {
		b.Run(name, func(b *testing.B) {
			v := verifier()
			v.Keys = v.Keys[1:]
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := verify(v, r, op.Table); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}
