package harness

import (
	"errors"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
)

// SweepInPieces sweeps with a deadline that has passed when the first reply arrives, from cursor to
// cursor until the sweep is complete. It returns the sum of the reports, whose Requests are zero,
// and the cursors.
func SweepInPieces(t testing.TB, opts patterns.SweepOptions, sweep func(*patterns.SweepOptions) (patterns.SweepReport, error)) (sum patterns.SweepReport, cursors []string) {
	t.Helper()
	opts.Deadline = time.Nanosecond
	seen := map[string]bool{"": true}
	for {
		var last patterns.Progress
		opts.Progress = func(p patterns.Progress) { last = p }
		r, err := sweep(&opts)
		assert.NoError(t, err)
		if r.Requests == 0 || r.Found != r.Done+r.Skipped+r.Failed || last.Found != r.Found {
			t.Errorf("report %+v, progress %+v", r, last)
		}
		sum.Found += r.Found
		sum.Done += r.Done
		sum.Skipped += r.Skipped
		sum.Failed += r.Failed
		sum.Bytes += r.Bytes
		sum.Drained += r.Drained
		sum.Released += r.Released
		sum.Marked += r.Marked
		sum.Failures = append(sum.Failures, r.Failures...)
		if opts.Cursor = r.Cursor; r.Cursor == "" {
			return sum, cursors
		}
		if seen[r.Cursor] {
			t.Fatalf("no progress after %d cursors", len(cursors))
		}
		seen[r.Cursor] = true
		cursors = append(cursors, r.Cursor)
	}
}

// WantBadCursors checks that a sweep refuses damaged variants of a cursor, and the cursor itself
// with other options, without a request.
func WantBadCursors(t testing.TB, cursor string, requests func() int, sweep func(*patterns.SweepOptions) (patterns.SweepReport, error)) {
	t.Helper()
	sent := requests()
	flipped := []byte(cursor)
	flipped[len(flipped)/2] ^= 1
	for what, opts := range map[string]*patterns.SweepOptions{
		"another partition": {Cursor: cursor, Partitions: []string{"another"}},
		"changed":           {Cursor: string(flipped)},
		"cut":               {Cursor: cursor[:len(cursor)-1]},
		"line break":        {Cursor: cursor + "\n"},
		"text":              {Cursor: "next"},
	} {
		r, err := sweep(opts)
		if !errors.Is(err, patterns.ErrBadCursor) || r.Requests != 0 || requests() != sent {
			t.Errorf("%s: %v, %+v, %d requests", what, err, r, requests()-sent)
		}
	}
}
