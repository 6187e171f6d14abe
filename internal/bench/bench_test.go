package bench

import (
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
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
	s := assert.Must(job.open(b.Context()))(b)
	defer s.close()
	for _, w := range job.Ways {
		b.Run(strings.ReplaceAll(w.Name, " ", "_"), func(b *testing.B) {
			run := assert.Must(w.make(s))(b)
			b.ReportAllocs()
			for b.Loop() {
				assert.NoError(b, run(b.Context()))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*job.Per), "ns/"+job.Unit)
		})
	}
}

// The comparison in the README is for rows of this size.
func TestARowHasTheDocumentedSize(t *testing.T) {
	assert.Equal(t, len(appendRow(nil, 1, "")), 669, "a row is", "bytes, want 669")
}

func TestAllWaysCompleteTheirJob(t *testing.T) {
	for _, job := range Jobs() {
		t.Run(job.Name, func(t *testing.T) {
			if strings.Contains(job.Name, "Azurite") {
				azurite.Shared(t)
			}
			assert.NoError(t, assert.ErrorOf(Measure(t.Context(), job, Options{Rounds: 1})))
		})
	}
}
