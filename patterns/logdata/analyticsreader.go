package logdata

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// AnalyticsReader reads the logs that Storage Analytics writes into the container
// $logs.
//
// https://learn.microsoft.com/rest/api/storageservices/about-storage-analytics-logging
type AnalyticsReader struct {
	container *container.Client
	service   string
	o         Options
}

// NewAnalyticsReader makes a reader of the logs of a service, "blob", "table" or
// "queue". It makes no request. Options.Format has no meaning to it.
func NewAnalyticsReader(client *container.Client, service string, opts *Options) (*AnalyticsReader, error) {
	o, err := opts.withDefaults(client, service)
	if err != nil {
		return nil, fmt.Errorf("new analytics reader: %w", err)
	}
	return &AnalyticsReader{container: client, service: service, o: o}, nil
}

// Read gives the entries of requests that began at from <= Start < to, in that order,
// for which match, if not nil, is true. stats may be nil. Errors are as for
// [Reader.Read], and match is called as [Query.Match].
//
// A request is filed in the hour in which it ended, so one hour after to is looked at
// as well. Blobs whose StartTime and EndTime miss the range are not read. An entry
// that was written twice, with the same request id and operation number, comes once.
// Storage Analytics may deliver entries up to an hour late, and some not at all.
func (r *AnalyticsReader) Read(ctx context.Context, from, to time.Time, match func(*AnalyticsEntry) bool, stats *Stats) iter.Seq2[AnalyticsEntry, error] {
	return func(yield func(AnalyticsEntry, error) bool) {
		from, to, err := bounds(from, to)
		if stats == nil {
			stats = new(Stats)
		}
		*stats = Stats{}
		if err != nil {
			yield(AnalyticsEntry{}, fmt.Errorf("read analytics log: %w", err))
			return
		}
		for f, err := range r.engine(match).read(ctx, from, to, position{}, stats) {
			if err != nil {
				err = fmt.Errorf("read analytics log: %w", err)
			}
			if !yield(f.value, err) {
				return
			}
		}
	}
}

func (r *AnalyticsReader) engine(match func(*AnalyticsEntry) bool) *engine[AnalyticsEntry] {
	if match == nil {
		match = func(*AnalyticsEntry) bool { return true }
	}
	return &engine[AnalyticsEntry]{
		container: r.container,
		service:   r.service,
		o:         r.o,
		late:      hour,
		parse:     ParseAnalytics,
		time:      func(e *AnalyticsEntry) time.Time { return e.Start },
		match:     match,
		pick:      pickAnalytics,
		same: func(a, b *AnalyticsEntry) bool {
			return a.RequestID != "" && a.RequestID == b.RequestID && a.OperationNumber == b.OperationNumber
		},
	}
}

// pickAnalytics goes by StartTime and EndTime, those of the first and the last entry
// to the second. The blobs do not change. Their entries need not be in order, so that
// the first and the last may not be the earliest and the latest: a minute is allowed
// on both sides.
func pickAnalytics(b listed, from, to time.Time) []stretch {
	start, err1 := time.Parse(metaTime, metaValue(b.meta, metaStart))
	end, err2 := time.Parse(metaTime, metaValue(b.meta, metaEnd))
	const slack = time.Minute
	if err1 == nil && err2 == nil && !end.Before(start) &&
		(!start.Add(-slack).Before(to) || !end.Add(time.Second+slack).After(from)) {
		return nil
	}
	return []stretch{{0, b.size}}
}
