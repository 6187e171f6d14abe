package largeentity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// With [Options.Outbox] blobs are deleted by a wake-up, put before the first request of
// the write. It names the entity and the blobs that the write creates and those that it
// drops. Whatever came of the write, what the entity does not refer to then goes, and what
// it does refer to stays: so a wake-up may come for a write that never was, early, late,
// and more than once.
//
// Since when nobody refers to a blob the wake-up does not know: its write may have failed,
// and a later one have dropped the blob a moment ago. Where the entity's row has stood
// unchanged for the grace time, it was before that. Otherwise the blob is marked, as Sweep
// does, and deleted when the mark is as old as the grace time.

// view is the view of the places that a wake-up of this package names.
const view = "blob"

// later puts the wake-up for a write of the entity at key. One request; none without an
// outbox, or without blobs.
func (t *Table[T]) later(ctx context.Context, key keys.Key, created []*outgoing, dropped references) error {
	if t.outbox == nil || len(created)+len(dropped) == 0 {
		return nil
	}
	w := patterns.OutboxMessage{Partition: key.Partition, Row: key.Row, ID: newID(time.Now())}
	for _, o := range created {
		w.Reserved = append(w.Reserved, patterns.RowRef{View: view, Partition: t.container, Row: o.ref.Name})
	}
	for _, ref := range dropped {
		if ref.Container == t.container {
			w.Reserved = append(w.Reserved, patterns.RowRef{View: view, Partition: t.container, Row: ref.Name})
		}
	}
	// As a rule the row is written by half of the grace time from now, see
	// [ErrTooSlow]: then it has stood for long enough, and one showing does it all.
	if _, err := t.outbox.Put(ctx, w, t.grace+t.grace/2); err != nil {
		return fmt.Errorf("wake-up: %w", err)
	}
	return nil
}

// newID is the id of a wake-up put at that time.
func newID(put time.Time) string { return put.UTC().Format(time.RFC3339) + "_" + uuid.NewString() }

// early is how long a wake-up has to wait since its write may not be over yet: what the
// row refers to now it may be about to drop. A writer's clock that is ahead makes the
// wake-up come again and again.
func (t *Table[T]) early(id string) time.Duration {
	put, _, _ := strings.Cut(id, "_")
	at, err := time.Parse(time.RFC3339, put)
	if err != nil {
		return 0
	}
	return min(t.grace-time.Since(at), t.grace)
}

// Handle does what a wake-up of [Options.Outbox] asks for; package eventual calls it in
// a worker, by HandleOutbox. It deletes those of the blobs named that the entity has not
// referred to for the grace time. again > 0 asks to show the wake-up again after that
// time: it came early, a blob is too young, or nothing tells yet that nobody has read the
// entity while it referred to the blob; such a blob is marked. One request, and two for
// each blob that is marked or deleted; none where it came within the grace time of its
// write.
func (t *Table[T]) Handle(ctx context.Context, w patterns.OutboxMessage) (again time.Duration, err error) {
	if wait := t.early(w.ID); wait > 0 {
		return wait, nil
	}
	refs, changed, err := t.referred(ctx, keys.Key{Partition: w.Partition, Row: w.Row})
	if err != nil {
		return 0, fmt.Errorf("delete blobs: %w", err)
	}
	for _, place := range w.Reserved {
		if place.View != view || place.Partition != t.container || refs.has(place.Row) {
			continue
		}
		wait, err := t.dropBlob(ctx, place.Row, changed)
		if err != nil {
			return 0, fmt.Errorf("delete blobs: %w", err)
		}
		again = max(again, wait)
	}
	return again, nil
}

func (r references) has(name string) bool {
	for _, ref := range r {
		if ref.Name == name {
			return true
		}
	}
	return false
}

// referred is what the entity at key refers to, and when it was written last; nothing and
// the zero time where there is none.
func (t *Table[T]) referred(ctx context.Context, key keys.Key) (references, time.Time, error) {
	row, err := t.table.Get(ctx, key)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	refs, _, err := referencesOf(row)
	return refs, row.Timestamp, err
}

// dropBlob deletes a blob that its entity, last changed at that time, does not refer to;
// or marks it and gives the time until it can be deleted. All times are the service's.
func (t *Table[T]) dropBlob(ctx context.Context, name string, changed time.Time) (wait time.Duration, err error) {
	props, err := t.blobs.NewBlobClient(name).GetProperties(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fail("delete blob", "", err)
	}
	if props.Date == nil || props.LastModified == nil {
		return 0, fail("delete blob", "", patterns.ErrBadReply)
	}
	// It tells seconds, so one more is waited for.
	if wait := t.grace - props.Date.Sub(*props.LastModified); wait > 0 {
		return wait + time.Second, nil // a writer may be about to refer to it
	}
	o := oldBlob{etag: props.ETag, marked: isMarked(props.Metadata)}
	settled := !changed.IsZero() && props.Date.Sub(changed) >= t.grace+time.Second
	if !o.marked && !settled {
		return t.grace + time.Second, o.mark(ctx, t.blobs, name)
	}
	return 0, o.delete(ctx, t.blobs, name)
}

// deleteLater is Delete with an outbox: the row is read for its references, which go into
// the wake-up, and deleted as it was read.
func (t *Table[T]) deleteLater(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	whatever := etag == "" || etag == azcore.ETagAny
	for try := 1; ; try++ {
		row, err := t.table.Get(ctx, key)
		switch {
		case errors.Is(err, patterns.ErrNotFound) && etag == "":
			return nil
		case err != nil:
			return err
		case !whatever && row.ETag != etag:
			return fmt.Errorf("delete: %w", patterns.ErrConflict)
		}
		refs, _, err := referencesOf(row)
		if err != nil {
			return err
		}
		if err := t.later(ctx, key, nil, refs); err != nil {
			return err
		}
		err = t.table.Delete(ctx, key, row.ETag)
		raced := errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrNotFound) ||
			etag == "" && errors.Is(err, patterns.ErrOutcomeUnknown) // another look tells
		if err == nil || !whatever || !raced || try >= t.tries || ctx.Err() != nil {
			return err
		}
	}
}
