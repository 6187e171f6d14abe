package logtail

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Log appends to and reads the streams of one table, with entries of type T. It is safe for
// concurrent use, starts no goroutine that outlives a call, and need not be closed. A program
// should share one Log per table, because appends are ordered within one Log.
type Log[T any] struct {
	table    *patterns.Table[T]
	spread   *keys.Spread // nil if a stream is one partition
	time     func(*T) time.Time
	rowKeys  *rowKeys
	parallel int
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Time returns the time of an entry, which decides its position in the stream. The time
	// must be in the years 1 to 9999 and is truncated to 100 ns. Time must be a pure
	// function. If it is nil, the time of an entry is the time of its Append by the local
	// clock, but not before the time of the Log's latest entry, so that a clock that was set
	// back does not change the order.
	Time func(*T) time.Time

	// Buckets is the number of partitions of each stream, for streams that need more than
	// the 2,000 entries a second of one partition: see [keys.Spread]. Zero and 1 mean one
	// partition, whose key is the name of the stream. With more, the key has a prefix such
	// as "07_". All Logs of a table must use the same number, and it must not change while
	// the table contains entries.
	Buckets int

	// Parallel is how many buckets are read concurrently. Zero means 8.
	Parallel int
}

const defaultParallel = 8

// New returns a Log on the client's table. The table must exist before the first entry is
// appended; [Log.Create] creates it. New makes no request. The error names the
// field of T that cannot be stored, or the option that is out of range.
//
// T is a struct whose fields are the properties of an entry, as described at
// [patterns.Table]. It needs no key. If it has the fields PartitionKey and RowKey, Append
// ignores them and reads fill them.
func New[T any](client *aztables.Client, opts *Options[T]) (*Log[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	table, err := patterns.NewTable(client, &patterns.TableOptions[T]{Keyless: true})
	if err != nil {
		return nil, fmt.Errorf("new log: %w", err)
	}
	l := &Log[T]{table: table, time: o.Time, parallel: o.Parallel, rowKeys: newRowKeys()}
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

// Table returns the table of the log, to get, merge or delete single entries. Its methods
// accept the Item of an [Entry].
func (l *Log[T]) Table() *patterns.Table[T] { return l.table }

// Client returns the client that was passed to New.
func (l *Log[T]) Client() *aztables.Client { return l.table.Client() }

// Create creates the table; it is not an error if the table exists. One request.
func (l *Log[T]) Create(ctx context.Context) error { return l.table.Create(ctx) }

// partition returns the partition key for a row key of the stream.
func (l *Log[T]) partition(stream, row string) string {
	if l.spread == nil {
		return stream
	}
	return l.spread.Partition(stream, row)
}

// partitions returns the keys of all partitions of the stream.
func (l *Log[T]) partitions(stream string) []string {
	if l.spread == nil {
		return []string{stream}
	}
	return l.spread.Partitions(stream)
}

// Entry is an entry of a stream: its row and the time in its row key.
type Entry[T any] struct {
	patterns.Item[T]

	// Time is when the event happened, by the clock of the writer or by [Options.Time]: in
	// UTC, cut to 100 ns. Item.Timestamp is when the service stored the row.
	Time time.Time

	// refused is set in an entry that could not be appended. It is true as long as every
	// request to store the entry was refused. Copies of the entry share it. nil and
	// false mean that the entry may be stored.
	refused *atomic.Bool
}

func entryOf[T any](item patterns.Item[T]) (Entry[T], error) {
	t, err := timeOf(item.Key.Row)
	if err != nil {
		return Entry[T]{}, fmt.Errorf("log: row in the range of entries has no time in its key: %w", err)
	}
	return Entry[T]{Item: item, Time: t}, nil
}
