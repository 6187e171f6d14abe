package logtail

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/keys"
)

// Whatever the clock says, each row key is legal, 49 characters, and lower than the
// one before, and its time is the latest that the clock has said.
func TestRowKeysOfAWriterOnlyFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWriter()
		now, latest := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}
		before := "~"
		for _, step := range rapid.SliceOf(rapid.Int64Range(-1e4, 1e4)).Draw(t, "steps in ns") {
			now = now.Add(time.Duration(step))
			if now.After(latest) {
				latest = now
			}
			w.now = func() time.Time { return now }
			row, err := w.rowNow()
			if err != nil {
				t.Fatal(err)
			}
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

// Two readings of the system's clock compare by their monotonic part, by which no
// clock is ever set back. Keys are made from the other part.
func TestTheWallClockCounts(t *testing.T) {
	w := newWriter()
	if _, err := w.rowNow(); err != nil {
		t.Fatal(err)
	}
	if now := w.now().String(); !strings.Contains(now, " m=") {
		t.Fatalf("the clock says %s: this test cannot fail", now)
	}
	if last := w.last.String(); strings.Contains(last, " m=") {
		t.Errorf("the latest time is %s, with a monotonic reading", last)
	}
}

// A clock that was once out of range must not stop the log for ever.
func TestAClockOutOfRangeIsForgotten(t *testing.T) {
	w := newWriter()
	w.now = func() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }
	if _, err := w.rowNow(); err == nil {
		t.Fatal("a key for the year 10000")
	}
	w.now = time.Now
	if _, err := w.rowNow(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestWritersMakeDifferentKeysOfOneTime(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := make(map[string]bool)
	for range 1000 {
		row, err := newWriter().rowAt(at)
		if err != nil || seen[row] {
			t.Fatalf("%q again, or %v", row, err)
		}
		seen[row] = true
	}
}
