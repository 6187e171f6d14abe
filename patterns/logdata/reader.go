package logdata

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/patterns"
)

// Reader reads the logs of a service that Writers have written. It may be used by
// any number of goroutines and needs no closing.
type Reader struct {
	container *container.Client
	service   string
	o         Options
}

// NewReader makes a Reader of the service's logs in the container. It makes no
// request.
func NewReader(client *container.Client, service string, opts *Options) (*Reader, error) {
	o, err := opts.withDefaults(client, service)
	if err != nil {
		return nil, fmt.Errorf("new log reader: %w", err)
	}
	return &Reader{container: client, service: service, o: o}, nil
}

// Container gives back the client that NewReader took.
func (r *Reader) Container() *container.Client { return r.container }

// Query says which records are read.
type Query struct {
	// From <= Time < To. Both are needed; To is at most the beginning of the year 10000.
	From, To time.Time

	// Types are those of the records; none means all. Blobs that have none of them
	// are not read.
	Types []string

	// Match, if not nil, has to be true of a record as well. It is called from
	// several goroutines, and must not change the record.
	Match func(*Record) bool

	// Cursor goes on behind the entry that it is of, see [Entry.Cursor]. It has to
	// belong to a Query with the same From, To and Types.
	Cursor string

	// Stats, if not nil, are set to what the reading has touched.
	Stats *Stats
}

// Entry is a record and where it was read.
type Entry struct {
	Record
	Blob   string // its name
	Offset int64  // of the record's line in it

	seal func(position []byte) string
}

// Cursor is a text, good in a URL, with which [Query.Cursor] goes on behind this
// entry. "" for an Entry that no Reader has made.
func (e *Entry) Cursor() string {
	if e.seal == nil {
		return ""
	}
	return e.seal(position{e.Time, e.Blob, e.Offset}.bytes())
}

// Read gives the records of the query in the order of their times; those of the same
// time come by the name of their blob and then as they were written. The pair with an
// error is the last, and has no entry. The loop may be left at any time.
//
// One request for each hour of the range, or for each whole day, and one for each
// 5,000 blobs more; one for each stretch of a blob that can have records of the range
// by its metadata, [Options.Parallel] at once. The matching records of one
// [Options.Slice] are in memory. A blob that is deleted meanwhile is left out and
// counted in Stats.Gone. Errors are [*LineError], [*Error], [patterns.ErrBadCursor],
// and [ErrBadOption] for a range without beginning or end.
//
// A record that is written while the range is read may be missed, and so may, after a
// Cursor, one that was written late: to follow a log, read up to a time that is past
// by more than Writers keep records in their buffers.
func (r *Reader) Read(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		fail := func(err error) { yield(Entry{}, fmt.Errorf("read log: %w", err)) }
		from, to, err := bounds(q.From, q.To)
		if err != nil {
			fail(err)
			return
		}
		marks := append([]string{"logdata", r.service, from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano)}, q.Types...)
		address, _, _ := strings.Cut(r.container.URL(), "?") // without a signature
		c, ok := cursor.Open(q.Cursor, marks...)
		after, good := parsePosition(c.Position)
		if !ok || !good || !c.Of(address) {
			fail(patterns.ErrBadCursor)
			return
		}
		stats := q.Stats
		if stats == nil {
			stats = new(Stats)
		}
		*stats = Stats{}
		seal := func(position []byte) string { return cursor.Seal(position, address, marks...) }
		for f, err := range r.engine(q).read(ctx, from, to, after, stats) {
			if err != nil {
				fail(err)
				return
			}
			if !yield(Entry{f.value, f.at.blob, f.at.offset, seal}, nil) {
				return
			}
		}
	}
}

func (r *Reader) engine(q Query) *engine[Record] {
	return &engine[Record]{
		container: r.container,
		service:   r.service,
		o:         r.o,
		parse:     r.o.Format.ParseLine,
		time:      func(v *Record) time.Time { return v.Time },
		match: func(v *Record) bool {
			return (len(q.Types) == 0 || slices.Contains(q.Types, v.Type)) && (q.Match == nil || q.Match(v))
		},
		pick: func(b listed, from, to time.Time) []stretch {
			s, ok := parseSummary(b.hour, b.meta)
			if !ok {
				return []stretch{{0, b.size}}
			}
			return s.pick(b.size, from, to, q.Types)
		},
	}
}

// bounds checks a range of time, which has to have a beginning and an end, and to be
// of the years that a name can have.
func bounds(from, to time.Time) (time.Time, time.Time, error) {
	from, to = from.Round(0).UTC(), to.Round(0).UTC()
	switch {
	case from.IsZero() || to.IsZero():
		return from, to, fmt.Errorf("%w: From and To are both needed", ErrBadOption)
	case from.Year() < 1 || to.After(time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)):
		return from, to, fmt.Errorf("%w: From or To %s", ErrBadOption, reasonYear)
	}
	return from, to, nil
}

// bytes is the time in seconds and nanoseconds, the offset and the blob's name.
func (p position) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.time.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(p.time.Nanosecond()))
	b = binary.BigEndian.AppendUint64(b, uint64(p.offset))
	return append(b, p.blob...)
}

// parsePosition is the inverse; none gives the zero position, before all entries.
func parsePosition(b []byte) (position, bool) {
	if len(b) == 0 {
		return position{}, true
	}
	if len(b) < 20 {
		return position{}, false
	}
	return position{
		time:   time.Unix(int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))).UTC(),
		offset: int64(binary.BigEndian.Uint64(b[12:])),
		blob:   string(b[20:]),
	}, true
}
