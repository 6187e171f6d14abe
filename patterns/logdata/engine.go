package logdata

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/parallel"
)

// Stats are what a reading has touched. They are good when its loop has ended. A blob
// that several slices need counts for each, see [Options.Slice].
type Stats struct {
	Lists    int   // requests that list blobs
	Listed   int   // blobs of the hours that were looked at
	Skipped  int   // of these, left unread for what their metadata say, or empty
	Read     int   // of these, read in whole or in part
	Gone     int   // of these, deleted before they were read
	Gets     int   // stretches of blobs that were read, a request each
	Bytes    int64 // of blobs that were read
	Lines    int64 // that were read
	Matched  int64 // of these, that were asked for
	BadLines int64 // that were skipped
}

// position is the place of an entry in the order of time, blob and offset.
type position struct {
	time   time.Time
	blob   string
	offset int64
}

func (p position) compare(q position) int {
	return cmp.Or(p.time.Compare(q.time), strings.Compare(p.blob, q.blob), cmp.Compare(p.offset, q.offset))
}

// found is an entry and where it was.
type found[T any] struct {
	value T
	at    position
}

// engine reads entries of any kind in the order of time. It goes from slice to slice
// of the time: lists the hours that can have entries of the slice, reads what the
// metadata do not rule out, and sorts.
type engine[T any] struct {
	container *container.Client
	service   string
	o         Options
	late      time.Duration // how long after its time an entry may be filed
	parse     func(line []byte) (T, error)
	time      func(*T) time.Time
	pick      func(b listed, from, to time.Time) []stretch
	match     func(*T) bool
	same      func(a, b *T) bool // duplicates; nil where there are none
}

// read gives the entries of [from, to) after the position.
func (e *engine[T]) read(ctx context.Context, from, to time.Time, after position, stats *Stats) iter.Seq2[found[T], error] {
	return func(yield func(found[T], error) bool) {
		if after.time.After(from) {
			from = after.time
		}
		list := newListing(e.container, e.service, from, to.Add(e.late), stats)
		for from.Before(to) {
			end := hourOf(from)
			end = end.Add(from.Sub(end).Truncate(e.o.Slice) + e.o.Slice)
			if to.Before(end) {
				end = to
			}
			got, err := e.slice(ctx, list, from, end, stats)
			if err != nil {
				yield(found[T]{}, err)
				return
			}
			for _, f := range got {
				if f.at.compare(after) <= 0 {
					continue
				}
				if stats.Matched++; !yield(f, nil) {
					return
				}
			}
			from = end
			list.forget(hourOf(from))
		}
	}
}

// job is a stretch to be read.
type job struct {
	blob listed
	stretch
}

// slice reads the entries of [from, to), sorted and each once.
func (e *engine[T]) slice(ctx context.Context, list *listing, from, to time.Time, stats *Stats) ([]found[T], error) {
	var jobs []job
	last := hourOf(to.Add(e.late - 1))
	for h := hourOf(from); !h.After(last); h = h.Add(hour) {
		blobs, err := list.of(ctx, h)
		if err != nil {
			return nil, err
		}
		for _, b := range blobs {
			picked := e.pick(b, from, to)
			if b.size == 0 || len(picked) == 0 {
				stats.Skipped++
				continue
			}
			stats.Read++
			for _, s := range picked {
				jobs = append(jobs, job{b, s})
			}
		}
	}
	var got []found[T]
	window := parallel.Window{Start: e.o.Parallel, Max: e.o.Parallel}
	for part, err := range parallel.Ordered(ctx, len(jobs), window, func(ctx context.Context, i int) (part[T], error) {
		return e.fetch(ctx, jobs[i], from, to)
	}) {
		if err != nil {
			return nil, err
		}
		stats.Gets++
		stats.Bytes += part.bytes
		stats.Lines += part.lines
		if part.gone {
			stats.Gone++
		}
		for _, bad := range part.bad {
			if err := e.o.BadLine(bad); err != nil {
				return nil, err
			}
			stats.BadLines++
		}
		got = append(got, part.found...)
	}
	slices.SortFunc(got, func(a, b found[T]) int { return a.at.compare(b.at) })
	return e.distinct(got), nil
}

// distinct leaves out entries that are there twice. Such ones have the same time.
func (e *engine[T]) distinct(got []found[T]) []found[T] {
	if e.same == nil {
		return got
	}
	kept := got[:0]
	for _, f := range got {
		twice := false
		for i := len(kept) - 1; i >= 0 && kept[i].at.time.Equal(f.at.time) && !twice; i-- {
			twice = e.same(&kept[i].value, &f.value)
		}
		if !twice {
			kept = append(kept, f)
		}
	}
	return kept
}

// part is what a stretch gave.
type part[T any] struct {
	found []found[T]
	bad   []*LineError
	bytes int64
	lines int64
	gone  bool
}

func (e *engine[T]) fetch(ctx context.Context, j job, from, to time.Time) (p part[T], err error) {
	r := newRangeReader(ctx, e.container, j.blob.name, j.stretch)
	defer r.Close()
	err = lines(r, func(text []byte, offset int64) error {
		p.lines++
		v, err := e.parse(text)
		if err != nil {
			bad := &LineError{Reason: err.Error()}
			errors.As(err, &bad)
			bad.Blob, bad.Offset = j.blob.name, offset
			if e.o.BadLine == nil {
				return bad
			}
			p.bad = append(p.bad, bad)
			return nil
		}
		t := e.time(&v)
		if !t.Before(from) && t.Before(to) && e.match(&v) {
			p.found = append(p.found, found[T]{v, position{t, j.blob.name, offset}})
		}
		return nil
	})
	p.bytes = r.at - j.from
	if errors.Is(err, errGone) {
		p.gone, err = true, nil
	}
	return p, err
}
