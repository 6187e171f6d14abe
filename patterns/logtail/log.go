package logtail

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Log is the log streams of one table, with entries of type T. It may be used by
// any number of goroutines; it starts none that outlives a call, and needs no
// closing. A program should make one Log of a table and share it: appends are in
// order within one Log.
type Log[T any] struct {
	table    *patterns.Table[T]
	spread   *keys.Spread // nil where a stream is one partition
	time     func(*T) time.Time
	writer   *writer
	parallel int
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Time gives the time of an entry, by which it is placed in its stream: any from
	// year 1 to 9999, cut to 100 ns. It must be pure. Without it the time is that of
	// the Append, by the writer's clock, but never before that of the Log's latest
	// entry, so that a clock set back does not put new entries behind old ones.
	Time func(*T) time.Time

	// Buckets spreads each stream over so many partitions, for streams that take
	// more than the 2,000 entries a second of one partition: see [keys.Spread]. Zero
	// and 1 mean one partition, whose key is the stream's name; more put "07_"
	// in front of it. Every Log of a table must have the same number, and it cannot
	// change while the table has entries.
	Buckets int

	// Parallel is how many buckets are read at once. Zero means 8.
	Parallel int
}

const defaultParallel = 8

// New makes a Log on the client's table, which must exist before the first entry
// is appended; [patterns.Table.Create] makes it. New makes no request. The error
// names the field of T that cannot be stored, or the option that is out of range.
//
// T is a struct whose fields are the entry's properties, as [patterns.Table] says;
// it needs no key. Fields PartitionKey and RowKey, if it has them, are ignored by
// Append and filled by reading.
func New[T any](client *aztables.Client, opts *Options[T]) (*Log[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	table, err := patterns.NewTable(client, &patterns.TableOptions[T]{Keyless: true})
	if err != nil {
		return nil, fmt.Errorf("new log: %w", err)
	}
	l := &Log[T]{table: table, time: o.Time, parallel: o.Parallel, writer: newWriter()}
	if o.Buckets != 0 && o.Buckets != 1 {
		if l.spread, err = keys.NewSpread(o.Buckets); err != nil {
			return nil, fmt.Errorf("new log: Buckets: %w", err)
		}
	}
	if l.parallel <= 0 {
		l.parallel = defaultParallel
	}
	return l, nil
}

// Table is the table under the log, to get, merge or delete single entries: an
// [Entry] holds the Item that its methods take.
func (l *Log[T]) Table() *patterns.Table[T] { return l.table }

// Client gives back the client that New took.
func (l *Log[T]) Client() *aztables.Client { return l.table.Client() }

// partition is the one of stream's partitions that row goes to.
func (l *Log[T]) partition(stream, row string) string {
	if l.spread == nil {
		return stream
	}
	return l.spread.Partition(stream, row)
}

// partitions are all of stream's.
func (l *Log[T]) partitions(stream string) []string {
	if l.spread == nil {
		return []string{stream}
	}
	return l.spread.Partitions(stream)
}
