package bench

import (
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azurite"
)

func BenchmarkJobs(b *testing.B) {
	for _, job := range Jobs() {
		b.Run(strings.ReplaceAll(job.Name, " ", "_"), func(b *testing.B) {
			if strings.Contains(job.Name, "Azurite") {
				azurite.Shared(b)
			}
			benchmark(b, job)
		})
	}
}

func benchmark(b *testing.B, job Job) {
	s, err := job.open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	for _, w := range job.Ways {
		b.Run(strings.ReplaceAll(w.Name, " ", "_"), func(b *testing.B) {
			run, err := w.make(s)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := run(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*job.Per), "ns/"+job.Unit)
		})
	}
}

// The comparison in the README is for rows of this size.
func TestARowHasTheDocumentedSize(t *testing.T) {
	if n := len(appendRow(nil, 1, "")); n != 669 {
		t.Errorf("a row is %d bytes, want 669", n)
	}
}

func TestAllWaysCompleteTheirJob(t *testing.T) {
	for _, job := range Jobs() {
		t.Run(job.Name, func(t *testing.T) {
			if strings.Contains(job.Name, "Azurite") {
				azurite.Shared(t)
			}
			if _, err := Measure(t.Context(), job, Options{Rounds: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
