// Package sweep has what all sweeps have in common: their options, their counts, and where they
// stop and continue.
package sweep

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Run is a sweep in progress.
type Run struct {
	types.SweepOptions
	kind     string
	from     pages.Cursor
	began    time.Time
	requests calls.Requests

	mu     sync.Mutex // guards report, and serializes calls of Progress
	report types.SweepReport
}

// Begin checks the options of a sweep of a kind, and its cursor as far as the table is not known.
// The requests with the context that it returns are counted.
func Begin(ctx context.Context, kind string, opts *types.SweepOptions, olderThan time.Duration) (context.Context, *Run, error) {
	r := &Run{kind: kind, began: time.Now()}
	if opts != nil {
		r.SweepOptions = *opts
	}
	if r.Partitions != nil {
		r.Partitions = slices.Compact(slices.AppendSeq([]string{}, slices.Values(slices.Sorted(slices.Values(r.Partitions)))))
	}
	if err := azerr.Default(&r.OlderThan, olderThan, "OlderThan"); err != nil {
		return ctx, r, err
	}
	if err := cmp.Or(azerr.Default(&r.Deadline, 0, "Deadline"), azerr.Default(&r.RequestsPerSecond, 0, "RequestsPerSecond")); err != nil {
		return ctx, r, err
	}
	if r.RequestsPerSecond > 0 {
		r.requests.Wait = func(ctx context.Context, before int) { // if ctx ends, the request fails
			_ = calls.Sleep(ctx, time.Until(r.began.Add(time.Duration(before)*time.Second/time.Duration(r.RequestsPerSecond))))
		}
	}
	for _, p := range r.Partitions {
		if err := keys.Check("PartitionKey", p); err != nil {
			return ctx, r, err
		}
	}
	var ok bool
	if r.from, ok = pages.OpenCursor(r.Cursor, r.identity()...); !ok {
		return ctx, r, azerr.ErrBadCursor
	}
	r.report.Cursor = r.Cursor
	return r.requests.Context(ctx), r, nil
}

// OfBlobs refuses Partitions.
func (r *Run) OfBlobs() error {
	if r.Partitions != nil {
		return azerr.Errorf("%w: SweepOptions.Partitions: blobs have none", azerr.ErrBadOption)
	}
	return nil
}

// InPartitions matches the rows in the partitions that the options name.
func (r *Run) InPartitions() query.Filter {
	if r.Partitions == nil {
		return query.Filter{}
	}
	all := make([]any, len(r.Partitions))
	for i, p := range r.Partitions {
		all[i] = p
	}
	return query.PartitionKey.In(all...)
}

func (r *Run) identity() []string {
	all := "all"
	if r.Partitions != nil {
		all = ""
	}
	return append([]string{"sweep", r.kind, all}, r.Partitions...)
}

// From returns the position at which the sweep begins, nil at the beginning. It fails with
// [azerr.ErrBadCursor] if the cursor is one of another table than that at url; "" is not known yet.
func (r *Run) From(url string) ([]byte, error) {
	if url != "" && !r.from.Of(url) {
		return nil, azerr.ErrBadCursor
	}
	return r.from.Position, nil
}

// At records that the sweep has come to a position in the table at url, nil for the beginning. It
// reports whether the sweep must stop there: the deadline has passed, and the position is behind
// the one where the sweep began.
func (r *Run) At(url string, position []byte) (over bool) {
	cursor := ""
	if len(position) > 0 {
		cursor = pages.SealCursor(position, url, r.identity()...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Cursor = cursor
	return cursor != r.Cursor && r.Past(r.Deadline)
}

// Tables runs the sweep over n tables. page processes the rows of a page of one of them, and returns the cursor of the next page, "" for
// none. The position is the number of the table, and that cursor. begin is called before the first page. url returns the address of the
// first table, "" as long as it is not known.
func (r *Run) Tables(ctx context.Context, n int, url func() string, begin func(context.Context) error, page func(ctx context.Context, table int, cursor string) (next string, err error)) error {
	position, err := r.From(url())
	if err != nil {
		return err
	}
	at, size := binary.Uvarint(position)
	if at >= uint64(n) {
		return azerr.ErrBadCursor
	}
	cursor := string(position[size:])
	if err := begin(ctx); err != nil {
		return err
	}
	if _, err := r.From(url()); err != nil {
		return err
	}
	for {
		if cursor, err = page(ctx, int(at), cursor); err != nil {
			return err
		}
		if cursor == "" {
			if at++; at == uint64(n) {
				break
			}
		}
		over := r.At(url(), append(binary.AppendUvarint(nil, at), cursor...))
		if r.Tick(); over {
			return nil
		}
	}
	r.Complete()
	return nil
}

// Complete records that the sweep has come to the end.
func (r *Run) Complete() { r.Count(func(p *types.SweepReport) { p.Cursor = "" }) }

// Past reports whether the sweep has a deadline, and has taken so long.
func (r *Run) Past(d time.Duration) bool { return r.Deadline > 0 && calls.Elapsed(r.began) >= d }

// Count changes the counts, and reports them.
func (r *Run) Count(add func(*types.SweepReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.report)
	r.report.Requests = r.requests.Count()
	if r.SweepOptions.Progress != nil {
		r.SweepOptions.Progress(r.report.Progress)
	}
}

// Found counts a thing that was found: as failed because of err, otherwise as add does it.
func (r *Run) Found(key keys.Key, err error, add func(*types.SweepReport)) {
	r.Count(func(p *types.SweepReport) {
		if p.Found++; err == nil {
			add(p)
			return
		}
		p.Failed++
		p.Failures = append(p.Failures, types.SweepFailure{Key: key, Err: err})
	})
}

// PageSize is how many rows a step processes at most: fewer with a deadline, 0 for as many as a page has.
func (r *Run) PageSize() int {
	if r.Deadline > 0 {
		return 100
	}
	return 0
}

// Tick calls Progress with the counts so far.
func (r *Run) Tick() { r.Count(func(*types.SweepReport) {}) }

// Report returns what was done so far.
func (r *Run) Report() types.SweepReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Requests = r.requests.Count()
	return r.report
}
