package logtail

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

// For any sequence of clock readings, each row key is valid, has 49 characters, is lower than
// the one before, and contains the latest time read.
func TestRowKeysOfALogAlwaysDescend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newRowKeys()
		now, latest := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}
		before := "~"
		for _, step := range rapid.SliceOf(rapid.Int64Range(-1e4, 1e4)).Draw(t, "steps in ns") {
			now = now.Add(time.Duration(step))
			if now.After(latest) {
				latest = now
			}
			k.now = func() time.Time { return now }
			row := assert.Must(k.next())(t)
			if keys.Compare(row, before) >= 0 || len(row) != 49 || keys.Check("RowKey", row) != nil {
				t.Fatalf("row key %q after %q", row, before)
			}
			if at, err := timeOf(row); err != nil || !at.Equal(latest.Truncate(100)) {
				t.Fatalf("time %v, %v, want %v", at, err, latest)
			}
			before = row
		}
	})
}

// After compares monotonic readings, which cannot show that the clock was set back. Keys
// contain the wall clock.
func TestKeysAreComparedByTheWallClock(t *testing.T) {
	k := newRowKeys()
	assert.NoError(t, assert.ErrorOf(k.next()))
	assert.Contains(assert.Now(t), k.now().String(), " m=", "the clock shows", "without a monotonic reading: this test proves nothing")
	if last := k.last.String(); strings.Contains(last, " m=") {
		t.Errorf("the latest time is %s, with a monotonic reading", last)
	}
}

func TestAClockOutOfRangeDoesNotAffectLaterKeys(t *testing.T) {
	k := newRowKeys()
	k.now = func() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }
	assert.Failed(assert.Now(t), assert.ErrorOf(k.next()), "a key for the year 10000")
	k.now = time.Now
	assert.Equal(t, assert.ErrorOf(k.next()), nil, "afterwards")
}

func TestLogsGenerateDifferentKeysForOneTime(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := make(map[string]bool)
	for range 1000 {
		row, err := newRowKeys().at(at)
		if err != nil || seen[row] {
			t.Fatalf("%q is a duplicate, or %v", row, err)
		}
		seen[row] = true
	}
}
