package logdata

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns"
)

// Reader reads the logs of a service that Writers have written. It is safe for
// concurrent use and need not be closed.
type Reader struct {
	container *container.Client
	service   string
	options   ReaderOptions
}

// NewReader returns a Reader of the service's logs in the container. It makes no
// request. Its error matches [patterns.ErrBadOption] or [patterns.ErrNil].
func NewReader(client *container.Client, service string, opts *ReaderOptions) (*Reader, error) {
	err := checkSource(client, service)
	if err != nil {
		return nil, fmt.Errorf("new log reader: %w", err)
	}
	r := &Reader{container: client, service: service}
	if r.options, err = opts.withDefaults(); err != nil {
		return nil, fmt.Errorf("new log reader: %w", err)
	}
	return r, nil
}

// Container returns the client that was passed to NewReader.
func (r *Reader) Container() *container.Client { return r.container }

// QueryOptions are the options of [Reader.Query]. nil and the zero value mean the
// defaults.
type QueryOptions struct {
	// Types selects records by Type. Empty means all types. Blobs that by their metadata
	// contain none of them are not read.
	Types []string

	// Match, if not nil, selects records in addition to Types. It is called concurrently
	// and must not change the record.
	Match func(*Record) bool

	// Stats, if not nil, receives what the read has done.
	Stats *Stats
}

// Entry is a record and where it is stored. An Entry may be read concurrently.
type Entry struct {
	Record
	Blob   string // name of the blob
	Offset int64  // of the record's line in the blob

	seal func(position []byte) string
}

// Cursor returns the cursor with which [Reader.Query] continues after this entry. It is valid for
// the same service in the same container with the same range and Types. It is safe in a URL. It is "" for an Entry that was not returned by a Reader.
func (e *Entry) Cursor() string {
	if e.seal == nil {
		return ""
	}
	return e.seal(position{e.Time, e.Blob, e.Offset}.bytes())
}

// Query yields the records with from <= Time < to in the order of their times, from the beginning if
// cursor is "", otherwise after the entry that returned it, see [Entry.Cursor]. Records of
// the same time are ordered by the name of their blob and then by offset. Both from and
// to must be set, and to must not be after the start of the year 10000. The caller may
// leave the loop at any time.
//
// An error is yielded with a zero Entry, and the sequence ends, with one exception: for
// each line that is not in the format, Query yields a [*LineError], skips the line and goes
// on. It yields these errors once each, before the records of the same
// [ReaderOptions.Slice]; a query with a cursor may yield them again.
//
// Query makes one request for each hour of the range, or for each whole day, one for each
// further 5,000 blobs, and one for each part of a blob that by its metadata may contain
// wanted records, [ReaderOptions.Parallel] of them concurrently. It holds the matching
// records of one [ReaderOptions.Slice], and the errors of its lines, in memory. A blob that is deleted during the read
// is skipped and counted in Stats.Gone.
//
// Errors that end the sequence are [*patterns.Error] for a failed request,
// [patterns.ErrBadCursor], and [patterns.ErrBadOption] for an invalid range.
//
// Query may miss a record that is written during the read. After a cursor it may miss a
// record that was written late. To follow a log, read up to a time in the past: Writers
// must have flushed all records of that time.
func (r *Reader) Query(ctx context.Context, from, to time.Time, cursor string, opts *QueryOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		fail := func(err error) { yield(Entry{}, fmt.Errorf("read log: %w", err)) }
		o := *cmp.Or(opts, &QueryOptions{})
		from, to, err := checkRange(from, to)
		if err != nil {
			fail(err)
			return
		}
		identity := append([]string{"logdata", r.service, from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano)}, o.Types...)
		address, _, _ := strings.Cut(r.container.URL(), "?") // without a signature
		c, ok := pages.OpenCursor(cursor, identity...)
		after, valid := parsePosition(c.Position)
		if !ok || !valid || !c.Of(address) {
			fail(patterns.ErrBadCursor)
			return
		}
		stats := o.Stats
		if stats == nil {
			stats = new(Stats)
		}
		*stats = Stats{}
		seal := func(position []byte) string { return pages.SealCursor(position, address, identity...) }
		for f, err := range r.search(&o).run(ctx, from, to, after, stats) {
			e := Entry{f.value, f.at.blob, f.at.offset, seal}
			if err != nil {
				e, err = Entry{}, fmt.Errorf("read log: %w", err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (r *Reader) search(o *QueryOptions) *search {
	return &search{
		Reader: r,
		match: func(v *Record) bool {
			return (len(o.Types) == 0 || slices.Contains(o.Types, v.Type)) && (o.Match == nil || o.Match(v))
		},
		ranges: func(b listedBlob, from, to time.Time) []byteRange {
			s, ok := parseSummary(b.hour, b.metadata)
			if !ok {
				return []byteRange{{0, b.size}}
			}
			return s.ranges(b.size, from, to, o.Types)
		},
	}
}

// checkRange returns the range in UTC, or an error if an end is not set or is outside
// the years that a blob name can contain.
func checkRange(from, to time.Time) (time.Time, time.Time, error) {
	from, to = from.Round(0).UTC(), to.Round(0).UTC()
	switch {
	case from.IsZero() || to.IsZero():
		return from, to, fmt.Errorf("%w: the start or the end of the range is not set", patterns.ErrBadOption)
	case from.Year() < 1 || to.After(time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)):
		return from, to, fmt.Errorf("%w: the range %s", patterns.ErrBadOption, reasonYear)
	}
	return from, to, nil
}

// bytes encodes the time in seconds and nanoseconds, the offset and the blob's name.
func (p position) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.time.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(p.time.Nanosecond()))
	b = binary.BigEndian.AppendUint64(b, uint64(p.offset))
	return append(b, p.blob...)
}

// parsePosition decodes what bytes returned. No bytes mean the zero position, which is
// before all entries.
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
