package logdata

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
)

// Stats reports what a read has done. It is complete when the loop has ended. A blob
// that several slices need is counted for each, see [ReaderOptions.Slice].
type Stats struct {
	Lists    int   // list requests
	Listed   int   // blobs of the listed hours
	Skipped  int   // of these, not read because of their metadata, or empty
	Read     int   // of these, read in whole or in part
	Gone     int   // of these, deleted before they were read
	Gets     int   // parts of blobs that were read, usually a request each
	Bytes    int64 // that were read
	Lines    int64 // that were read
	Matched  int64 // entries that were yielded
	BadLines int64 // that were not in the format
}

// position is the place of an entry in the order by time, blob and offset.
type position struct {
	time   time.Time
	blob   string
	offset int64
}

func (p position) compare(q position) int {
	return cmp.Or(p.time.Compare(q.time), strings.Compare(p.blob, q.blob), cmp.Compare(p.offset, q.offset))
}

// found is an entry and its position.
type found struct {
	value Record
	at    position
}

// search reads entries in the order of time. It divides the range into slices. For each it
// lists the hours, reads what the metadata do not rule out, and sorts.
type search struct {
	*Reader
	ranges func(b listedBlob, from, to time.Time) []byteRange
	match  func(*Record) bool
}

// run yields the entries of [from, to) after the position. The entries of a slice follow
// the errors of its lines.
func (s *search) run(ctx context.Context, from, to time.Time, after position, stats *Stats) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		if after.time.After(from) {
			from = after.time
		}
		list := newListing(s.container, s.service, from, to, stats)
		reported := map[lineAt]time.Time{} // and the hour of the blob; adjacent slices may read the same lines
		for from.Before(to) {
			end := hourOf(from)
			end = end.Add(from.Sub(end).Truncate(s.options.Slice) + s.options.Slice)
			if to.Before(end) {
				end = to
			}
			entries, bad, err := s.readSlice(ctx, list, from, end, stats)
			if err != nil {
				yield(found{}, err)
				return
			}
			for _, e := range bad {
				at := lineAt{e.Blob, e.Offset}
				if _, ok := reported[at]; ok {
					continue
				}
				reported[at] = e.hour
				if stats.BadLines++; !yield(found{}, e.LineError) {
					return
				}
			}
			for _, e := range entries {
				if e.at.compare(after) <= 0 {
					continue
				}
				if stats.Matched++; !yield(e, nil) {
					return
				}
			}
			from = end
			list.forgetBefore(hourOf(from))
			maps.DeleteFunc(reported, func(_ lineAt, h time.Time) bool { return h.Before(hourOf(from)) })
		}
	}
}

// lineAt is the place of a line.
type lineAt struct {
	blob   string
	offset int64
}

// badLineOf is the error of a line, and the hour of its blob.
type badLineOf struct {
	*LineError
	hour time.Time
}

// download is a part of a blob to read.
type download struct {
	blob listedBlob
	byteRange
}

// readSlice returns the entries of [from, to), sorted, and the errors of the lines
// that it read.
func (s *search) readSlice(ctx context.Context, list *listing, from, to time.Time, stats *Stats) (entries []found, bad []badLineOf, err error) {
	downloads, err := s.plan(ctx, list, from, to, stats)
	if err != nil {
		return nil, nil, err
	}
	window := calls.Window{Start: s.options.Parallel, Max: s.options.Parallel}
	for part, err := range calls.Ordered(ctx, len(downloads), window, func(ctx context.Context, i int) (content, error) {
		return s.read(ctx, downloads[i], from, to)
	}) {
		if err != nil {
			return nil, nil, err
		}
		stats.Gets++
		stats.Bytes += part.bytes
		stats.Lines += part.lines
		if part.gone {
			stats.Gone++
		}
		bad = append(bad, part.bad...)
		entries = append(entries, part.entries...)
	}
	slices.SortFunc(entries, func(a, b found) int { return a.at.compare(b.at) })
	return entries, bad, nil
}

// plan lists the blobs and returns the parts that may contain entries of [from, to).
func (s *search) plan(ctx context.Context, list *listing, from, to time.Time, stats *Stats) ([]download, error) {
	var downloads []download
	last := hourOf(to.Add(-1))
	for h := hourOf(from); !h.After(last); h = h.Add(hour) {
		blobs, err := list.of(ctx, h)
		if err != nil {
			return nil, err
		}
		for _, b := range blobs {
			ranges := s.ranges(b, from, to)
			if b.size == 0 || len(ranges) == 0 {
				stats.Skipped++
				continue
			}
			stats.Read++
			for _, r := range ranges {
				downloads = append(downloads, download{b, r})
			}
		}
	}
	return downloads, nil
}

// content is what was found in a part of a blob.
type content struct {
	entries []found
	bad     []badLineOf
	bytes   int64
	lines   int64
	gone    bool
}

func (s *search) read(ctx context.Context, d download, from, to time.Time) (c content, err error) {
	r := newRangeReader(ctx, s.container, d.blob.name, d.byteRange)
	defer r.Close()
	err = eachLine(r, func(text []byte, number, offset int64) {
		c.lines++
		at := len(c.entries)
		c.entries = append(c.entries, found{}) // decoded in place, so that v is not allocated
		v := &c.entries[at].value
		var err error
		if *v, err = s.options.Format.ParseLine(text); err != nil {
			c.entries = c.entries[:at]
			bad := &LineError{Reason: err.Error()}
			errors.As(err, &bad)
			bad.Blob, bad.Offset = d.blob.name, offset
			if d.from == 0 {
				bad.Line = number
			}
			c.bad = append(c.bad, badLineOf{bad, d.blob.hour})
			return
		}
		if v.Time.Before(from) || !v.Time.Before(to) || !s.match(v) {
			c.entries = c.entries[:at]
			return
		}
		c.entries[at].at = position{v.Time, d.blob.name, offset}
	})
	c.bytes = r.at - d.from
	if errors.Is(err, errGone) {
		c.gone, err = true, nil
	}
	return c, err
}
