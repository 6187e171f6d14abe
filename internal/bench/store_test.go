package bench

import (
	"strings"
	"testing"
)

// In one partition, a Store has no more requests than code that is written by hand.
func TestAStoreHasAsManyRequestsAsHandwrittenCode(t *testing.T) {
	for _, job := range Stores() {
		t.Run(job.Name, func(t *testing.T) {
			results, err := Measure(t.Context(), job, Options{Rounds: 1})
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if strings.HasSuffix(job.Name, "update") || strings.HasSuffix(job.Name, "move") {
				want = 2
			}
			for _, r := range results {
				if r.Requests != want {
					t.Errorf("%s: %d requests, want %d", r.Way, r.Requests, want)
				}
			}
		})
	}
}

func BenchmarkStores(b *testing.B) {
	for _, job := range Stores() {
		b.Run(strings.ReplaceAll(job.Name, " ", "_"), func(b *testing.B) { benchmark(b, job) })
	}
}
