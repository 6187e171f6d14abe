package logtail_test

import (
	"iter"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

// claim is the entry of the guide's example: an employee's expense claim.
type claim struct {
	What   string
	Amount float64
	At     time.Time `table:"-"` // the time is in the key
}

func claimTime(c *claim) time.Time { return c.At }

func newLog(t testing.TB, client *aztables.Client, opts *logtail.Options[claim]) *logtail.Log[claim] {
	t.Helper()
	log := assert.Must(logtail.New(client, opts))(t)
	return log
}

func appended(t testing.TB, log *logtail.Log[claim], stream string, c claim) logtail.Entry[claim] {
	t.Helper()
	e := assert.Must(log.Append(t.Context(), stream, &c))(t)
	return e
}

// failure returns the error of a sequence that must yield nothing else.
func failure(t testing.TB, seq iter.Seq2[logtail.Entry[claim], error]) error {
	t.Helper()
	pairs := 0
	var last error
	for e, err := range seq {
		if pairs++; err == nil {
			t.Fatalf("got an entry: %v", e.Value)
		}
		last = err
	}
	assert.Equal(assert.Now(t), pairs, 1, "pairs, want one with an error")
	return last
}

func whats(es []logtail.Entry[claim]) []string {
	var names []string
	for _, e := range es {
		names = append(names, e.Value.What)
	}
	return names
}

func wantOrder(t testing.TB, got []logtail.Entry[claim], want ...string) {
	t.Helper()
	assert.EqualSlices(t, whats(got), want)
}

func day(n int) time.Time { return time.Date(2026, time.January, n, 0, 0, 0, 0, time.UTC) }
