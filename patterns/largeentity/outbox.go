package largeentity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// With [Options.Outbox] blobs are deleted by a wake-up, put before the first request of
// the write and shown after the grace time. It names the entity and the blobs that the
// write creates and those that it drops. Whatever came of the write, what the entity
// does not refer to then is deleted, and what it does refer to stays: so a wake-up may
// come for a write that never was, late, and more than once.

// view is the view of the places that a wake-up of this package names.
const view = "blob"

// later puts the wake-up for a write of the entity at key. One request; none without an
// outbox, or without blobs.
func (t *Table[T]) later(ctx context.Context, key keys.Key, created []*outgoing, dropped references) error {
	if t.outbox == nil || len(created)+len(dropped) == 0 {
		return nil
	}
	w := patterns.Wakeup{Partition: key.Partition, Row: key.Row, ID: uuid.NewString()}
	for _, o := range created {
		w.Reserved = append(w.Reserved, patterns.Place{View: view, Partition: t.container, Row: o.ref.Name})
	}
	for _, ref := range dropped {
		if ref.Container == t.container {
			w.Reserved = append(w.Reserved, patterns.Place{View: view, Partition: t.container, Row: ref.Name})
		}
	}
	if _, err := t.outbox.Put(ctx, w, t.grace); err != nil {
		return fmt.Errorf("wake-up: %w", err)
	}
	return nil
}

// Handle does what a wake-up of [Options.Outbox] asks for; package eventual calls it in
// a worker, by HandleOutbox. It deletes those of the blobs named that the entity does not
// refer to. again > 0 asks to show the wake-up again after that time: a blob is too
// young, because the wake-up came early. One request, and two for each blob that is
// deleted.
func (t *Table[T]) Handle(ctx context.Context, w patterns.Wakeup) (again time.Duration, err error) {
	refs, err := t.referred(ctx, keys.Key{Partition: w.Partition, Row: w.Row})
	if err != nil {
		return 0, fmt.Errorf("delete blobs: %w", err)
	}
	for _, place := range w.Reserved {
		if place.View != view || place.Partition != t.container || refs.has(place.Row) {
			continue
		}
		wait, err := t.dropBlob(ctx, place.Row)
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

// referred is what the entity at key refers to; nothing where there is none.
func (t *Table[T]) referred(ctx context.Context, key keys.Key) (references, error) {
	row, err := t.table.Get(ctx, key)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	refs, _, err := referencesOf(row)
	return refs, err
}

// dropBlob deletes a blob, unless it is so young that a writer may be about to refer to
// it: then it gives the time until it is not.
func (t *Table[T]) dropBlob(ctx context.Context, name string) (wait time.Duration, err error) {
	client := t.blobs.NewBlobClient(name)
	props, err := client.GetProperties(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fail("delete blob", "", err)
	}
	if props.Date == nil || props.LastModified == nil {
		return 0, fail("delete blob", "", patterns.ErrBadReply)
	}
	// By the service's clock. It tells seconds, so one more is waited for.
	if wait := t.grace - props.Date.Sub(*props.LastModified); wait > 0 {
		return wait + time.Second, nil
	}
	_, err = client.Delete(ctx, &blob.DeleteOptions{
		DeleteSnapshots:  to.Ptr(blob.DeleteSnapshotsOptionTypeInclude),
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: props.ETag}},
	})
	return 0, skip(fail("delete blob", "", err))
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
