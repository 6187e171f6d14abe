package logtail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Append adds v to the stream as a new entry. It chooses the key once, before the first
// request, so that there is one entry however often the SDK repeats the request. It makes
// one request. If a reply is lost, it makes one more for each repetition by the SDK, and one
// to read the row.
//
// If one Log appends two entries one after the other, the second is the newer one, unless
// [Options.Time] returns an earlier time. Entries of different Logs with times in the same
// 100 ns have a fixed but arbitrary order.
//
// If Append fails and the entry may be stored, the error matches
// [patterns.ErrOutcomeUnknown]. The Entry that is returned with an error can be passed to
// [Log.Retry].
func (l *Log[T]) Append(ctx context.Context, stream string, v *T) (Entry[T], error) {
	e, err := l.newEntry(stream, v)
	if err != nil {
		return e, fmt.Errorf("append: %w", err)
	}
	item, err := l.table.Do(ctx, patterns.InsertOp(v).At(e.Key))
	var etags []azcore.ETag
	if err != nil {
		if etags, err = l.resolve(ctx, err, e); err == nil {
			item = e.Item
			item.ETag = etags[0]
		}
	}
	if err != nil {
		e.failed(err)
		return e, fmt.Errorf("append: %w", err)
	}
	e.Item = item
	return e, nil
}

// AppendAll adds all of vs to the stream or none, in one transaction and one request. The
// last value becomes the newest entry. It returns [patterns.ErrTooLarge] for more than 100
// values or 4 MiB. If the stream has buckets, all entries are stored in the same one. If a
// reply is lost, AppendAll reads each row.
//
// Errors are as for Append. The error of a single value is a [*patterns.BatchError] with its
// index.
func (l *Log[T]) AppendAll(ctx context.Context, stream string, vs []T) ([]Entry[T], error) {
	es := make([]Entry[T], len(vs))
	for i := range vs {
		var err error
		if es[i], err = l.newEntry(stream, &vs[i]); err != nil {
			return nil, fmt.Errorf("append: value %d: %w", i, err)
		}
		es[i].Key.Partition = es[0].Key.Partition
	}
	etags, err := l.insert(ctx, es)
	if err != nil {
		etags, err = l.resolve(ctx, err, es...)
	}
	if err != nil {
		for i := range es {
			es[i].failed(err)
		}
		return es, fmt.Errorf("append: %w", err)
	}
	for i := range etags {
		es[i].ETag = etags[i]
	}
	return es, nil
}

// Retry appends entries that Append or AppendAll returned with an error, under the same
// keys. Entries that are already stored stay as they are. Retry can be repeated, also in
// another process. Its error matches [patterns.ErrOutcomeUnknown] until Retry returns nil,
// unless all requests so far to store the entries were refused.
//
// For one entry it makes one request. Several entries must be from one AppendAll: Retry
// sends them in one transaction and, if one of them is already stored, sends each in a
// request of its own. It returns [patterns.ErrBadKey] for an Entry without a key, which
// Append returns if it refuses the stream or the time.
func (l *Log[T]) Retry(ctx context.Context, entries ...Entry[T]) error {
	for i := range entries {
		if _, err := timeOf(entries[i].Key.Row); err != nil {
			return fmt.Errorf("retry: entry %d has no key: %w", i, err)
		}
	}
	err := l.retry(ctx, entries)
	if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
		mayBeStored(entries)
	}
	if err == nil {
		return nil
	}
	for i := range entries {
		if refused := entries[i].refused; refused == nil || !refused.Load() {
			err = sdkerr.StillUnknown(errMayBeStored, err)
		}
	}
	return fmt.Errorf("retry: %w", err)
}

func (l *Log[T]) retry(ctx context.Context, entries []Entry[T]) error {
	if len(entries) > 1 {
		if _, err := l.insert(ctx, entries); !isStored(err) {
			return err
		}
		// One of the entries is stored, so a transaction with all of them may be.
		mayBeStored(entries)
	}
	window := calls.Window{Start: l.parallel, Max: l.parallel}
	for _, err := range calls.Ordered(ctx, len(entries), window, func(ctx context.Context, i int) (struct{}, error) {
		e := &entries[i]
		_, err := l.table.Do(ctx, patterns.InsertOp(&e.Value).At(e.Key))
		if isStored(err) {
			err = nil
		}
		return struct{}{}, err
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// errMayBeStored is the reason that the outcome of an entry is unknown, if no request of the
// present call left it open.
var errMayBeStored = &sdkerr.UnknownOutcome{Cause: azerr.Sentinel("an earlier request may have stored the entry")}

// isStored reports whether err proves that a row with the key of the entry exists. It is
// this entry, because no other Log generates its key.
func isStored(err error) bool {
	if err == nil {
		return false
	}
	var e *patterns.Error
	return errors.Is(err, patterns.ErrExists) || errors.As(err, &e) && e.Code == string(aztables.EntityAlreadyExists)
}

// failed records that the request to store e has failed with err.
func (e *Entry[T]) failed(err error) {
	if !errors.Is(err, patterns.ErrOutcomeUnknown) {
		e.refused = new(atomic.Bool)
		e.refused.Store(true)
	}
}

// mayBeStored records that not every request to store the entries was refused.
func mayBeStored[T any](entries []Entry[T]) {
	for i := range entries {
		if refused := entries[i].refused; refused != nil {
			refused.Store(false)
		}
	}
}

// newEntry returns the entry of v with a new key and without an ETag.
func (l *Log[T]) newEntry(stream string, v *T) (Entry[T], error) {
	if v == nil {
		return Entry[T]{}, fmt.Errorf("value: %w", patterns.ErrNil)
	}
	var row string
	var err error
	if l.time == nil {
		row, err = l.rowKeys.next()
	} else {
		row, err = l.rowKeys.at(l.time(v))
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

// insert inserts all entries in one transaction.
func (l *Log[T]) insert(ctx context.Context, entries []Entry[T]) ([]azcore.ETag, error) {
	batch := l.table.Batch()
	for i := range entries {
		batch.Add(patterns.InsertOp(&entries[i].Value).At(entries[i].Key))
	}
	result, err := batch.Commit(ctx)
	return result.ETags, err
}

// storedETags reads the ETags of rows that the service reports as existing. No other Log
// generates their keys, so an earlier attempt of this Append has stored them. The ETag of a
// row that was deleted since is empty.
func (l *Log[T]) storedETags(ctx context.Context, entries ...Entry[T]) ([]azcore.ETag, error) {
	etags := make([]azcore.ETag, len(entries))
	for i := range entries {
		item, err := l.table.Get(ctx, entries[i].Key)
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return nil, sdkerr.StillUnknown(errMayBeStored, err)
		}
		etags[i] = item.ETag
	}
	return etags, nil
}

// resolve returns the ETags of entries whose insert failed with err, if they are stored although it
// did: no other insert has their keys.
func (l *Log[T]) resolve(ctx context.Context, err error, entries ...Entry[T]) ([]azcore.ETag, error) {
	if !isStored(err) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
		return nil, err
	}
	etags, rerr := l.storedETags(ctx, entries...)
	switch {
	case rerr != nil:
		return nil, rerr
	case !isStored(err) && slices.Contains(etags, ""):
		return nil, err
	}
	return etags, nil
}
