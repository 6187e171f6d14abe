//go:build unix && !race

package storagetest_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// processorTime returns the time that the process has taken on all processors.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	assert.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// On an idle machine a read takes about 5 microseconds. The bound is wider, because processes that share the caches of the processor can double
// the time of all rounds.
func TestAPointReadTakesMicrosecondsOfProcessorTime(t *testing.T) {
	documented(t) // without counts for targets
	const rounds, reads, most = 30, 1000, 20 * time.Microsecond
	acct := filled(t, 10_000)
	req := signed(t, acct, func(c *aztables.Client) error {
		return assert.ErrorOf(c.GetEntity(t.Context(), "Sales", "00005000", nil))
	})
	best := time.Hour
	for range rounds {
		began := processorTime(t)
		for range reads {
			res := assert.Must(acct.Transport().Do(req))(t)
			assert.NoError(t, assert.ErrorOf(io.Copy(io.Discard, res.Body)))
		}
		best = min(best, (processorTime(t)-began)/reads)
	}
	t.Logf("a point read takes %v", best)
	if best > most {
		t.Errorf("a point read takes %v of processor time, want at most %v", best, most)
	}
}

func TestAMillionRowsTakeAtMost400BytesEach(t *testing.T) {
	documented(t) // without a secondary
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	size := rowSize(t, 1_000_000)
	t.Logf("a row takes %d bytes", size)
	if size > 400 {
		t.Errorf("a row takes %d bytes, want at most 400", size)
	}
}
