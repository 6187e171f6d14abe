package logtail

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Append adds v to the stream as a new entry. Its key is chosen once, before the
// first request: however often the SDK repeats the request, there is one entry.
// One request. When a reply was lost, one more for each time that the SDK repeats it,
// and one to read the row.
//
// Of two Appends by one Log, one after the other, the second's entry is the newer
// one, unless [Options.Time] says otherwise. Entries of different Logs with times
// in the same 100 ns have no order in time, though always the same one.
//
// When Append fails and the entry may or may not be there, the error matches
// [patterns.ErrOutcomeUnknown]. The Entry returned beside an error can be handed to
// [Log.Retry].
func (l *Log[T]) Append(ctx context.Context, stream string, v *T) (Entry[T], error) {
	e, err := l.entry(stream, v)
	if err != nil {
		return e, fmt.Errorf("append: %w", err)
	}
	item, err := l.table.Do(ctx, patterns.InsertOp(v).At(e.Key))
	if errors.Is(err, patterns.ErrExists) {
		var etags []azcore.ETag
		if etags, err = l.stored(ctx, e); err == nil {
			item = e.Item
			item.ETag = etags[0]
		}
	}
	if err != nil {
		return e, fmt.Errorf("append: %w", err)
	}
	e.Item = item
	return e, nil
}

// AppendAll adds the values of vs to the stream, the last one as the newest: all of
// them or none, in one transaction and one request. More than 100, or 4 MiB, are
// refused with [patterns.ErrTooLarge]. In a spread stream they share one bucket.
// When a reply was lost each row is read.
// Errors are as for Append; those of a single value are a [*patterns.BatchError]
// with its index.
func (l *Log[T]) AppendAll(ctx context.Context, stream string, vs []T) ([]Entry[T], error) {
	es := make([]Entry[T], len(vs))
	for i := range vs {
		var err error
		if es[i], err = l.entry(stream, &vs[i]); err != nil {
			return nil, fmt.Errorf("append: value %d: %w", i, err)
		}
		es[i].Key.Partition = es[0].Key.Partition
	}
	etags, err := l.insert(ctx, es)
	if errors.Is(err, patterns.ErrExists) {
		etags, err = l.stored(ctx, es...)
	}
	if err != nil {
		return es, fmt.Errorf("append: %w", err)
	}
	for i := range etags {
		es[i].ETag = etags[i]
	}
	return es, nil
}

// stored reads the ETags of rows that an Append found there already. Nobody else
// makes their keys, so they are this Append's own, brought by a request that the
// network repeated.
func (l *Log[T]) stored(ctx context.Context, entries ...Entry[T]) ([]azcore.ETag, error) {
	etags := make([]azcore.ETag, len(entries))
	for i := range entries {
		item, err := l.table.Get(ctx, entries[i].Key)
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return nil, err
		}
		etags[i] = item.ETag // none where the row was deleted since
	}
	return etags, nil
}

// entry makes the entry of v, with all but what the service gives.
func (l *Log[T]) entry(stream string, v *T) (Entry[T], error) {
	if v == nil {
		return Entry[T]{}, fmt.Errorf("value: %w", patterns.ErrNil)
	}
	var row string
	var err error
	if l.time == nil {
		row, err = l.writer.rowNow()
	} else {
		row, err = l.writer.rowAt(l.time(v))
	}
	if err != nil {
		return Entry[T]{}, err
	}
	key := keys.Key{Partition: l.partition(stream, row), Row: row}
	if err := key.Validate(); err != nil {
		return Entry[T]{}, err
	}
	return entryOf(patterns.Item[T]{Value: *v, Key: key})
}

// insert adds all of entries in one transaction.
func (l *Log[T]) insert(ctx context.Context, entries []Entry[T]) ([]azcore.ETag, error) {
	batch := l.table.Batch()
	for i := range entries {
		batch.Add(patterns.InsertOp(&entries[i].Value).At(entries[i].Key))
	}
	result, err := batch.Commit(ctx)
	return result.ETags, err
}
