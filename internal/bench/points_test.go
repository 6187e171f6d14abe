package bench

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"testing"
)

// With or filters of 15 comparisons, the service reads the whole partition for each
// filter. With In it reads only the rows of the result.
func TestInReadsOnlyTheRowsOfTheResult(t *testing.T) {
	results := assert.Must(Points(t.Context(), 0, 1))(t)
	or, loop, in := results[0], results[2], results[3]
	assert.Equal(t, or.Requests, 36)
	assert.Equal(t, or.Scanned, 36*pointOf)
	if in.Requests != 500 || in.Scanned != 500 || loop.Requests != in.Requests || loop.Scanned != in.Scanned {
		t.Errorf("In: %+v, by hand: %+v", in, loop)
	}
}

func BenchmarkPoints(b *testing.B) {
	for b.Loop() {
		results := assert.Must(Points(b.Context(), 0, 1))(b)
		in := results[len(results)-1]
		b.ReportMetric(in.Ratio, "times-faster-than-or")
		b.ReportMetric(float64(results[2].Time)/float64(in.Time), "times-faster-than-loop")
		b.ReportMetric(float64(results[0].Scanned)/float64(in.Scanned), "times-fewer-rows-scanned")
	}
}
