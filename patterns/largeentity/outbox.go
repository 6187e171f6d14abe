package largeentity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// With [Options.Outbox], a writer sends an outbox message before the first request of the
// write. The message names the entity, the blobs that the write creates and those that it
// drops. Whatever the outcome of the write, the worker deletes the named blobs to which the
// entity does not refer, and keeps the others. Therefore a message is harmless if its write
// failed, and if it arrives early, late or more than once.
//
// The message does not prove how long a blob has been unreferenced: its write may have
// failed, and a later write may have dropped the blob a moment ago. If the row has not
// changed for the grace period, no write dropped the blob within that time. Otherwise the
// worker marks the blob, as Sweep does, and deletes it when the mark is older than the
// grace period.

// blobView is the view of the row references in the outbox messages of this package.
const blobView = "blob"

// sendMessage sends the outbox message for a write of the entity at key. One request; none
// without an outbox, or if there are no blobs.
func (t *Table[T]) sendMessage(ctx context.Context, key keys.Key, created []*pendingBlob, dropped []BlobRef) error {
	if t.outbox == nil || len(created)+len(dropped) == 0 {
		return nil
	}
	sent, err := t.latestServiceTime(ctx, key) // also determines the name of the table, for mayDelete
	if err != nil {
		return err
	}
	m := patterns.OutboxMessage{Partition: key.Partition, Row: key.Row, ID: newMessageID(sent)}
	for _, b := range created {
		m.Reserved = append(m.Reserved, patterns.RowRef{View: blobView, Partition: t.container, Row: b.ref.Name})
	}
	for _, ref := range dropped {
		if ref.Container == t.container && t.mayDelete(ref.Name) {
			m.Reserved = append(m.Reserved, patterns.RowRef{View: blobView, Partition: t.container, Row: ref.Name})
		}
	}
	if len(m.Reserved) == 0 {
		return nil
	}
	// The row is written within half a grace period from now, see [ErrTooSlow].
	// When the message becomes visible, the row has then been unchanged for a grace
	// period, and the message needs to be handled only once.
	if _, err := t.outbox.Put(ctx, m, t.grace+t.grace/2); err != nil {
		return fmt.Errorf("outbox message: %w", azerr.Seal(err))
	}
	return nil
}

// serviceTime returns the time by the clock of the service. If no reply has shown it yet,
// one request: a read of the row at key, which need not exist.
func (t *Table[T]) serviceTime(ctx context.Context, key keys.Key) (time.Time, error) {
	if now, ok := t.table.ServiceTime(); ok {
		return now, nil
	}
	_, err := t.table.Get(ctx, key)
	now, ok := t.table.ServiceTime()
	switch {
	case ok:
		return now, nil
	case err == nil:
		err = patterns.ErrBadReply
	}
	return now, err
}

// latestServiceTime returns a time by the clock of the service that is not in the past, and
// is at most half a grace period and two seconds in the future. One request if no reply has shown the time
// so exactly yet. It returns [ErrTooSlow] if the reply to that request was delayed, too.
func (t *Table[T]) latestServiceTime(ctx context.Context, key keys.Key) (time.Time, error) {
	for try := 1; ; try++ {
		now, err := t.serviceTime(ctx, key)
		if err != nil {
			return now, err
		}
		latest, _ := t.table.LatestServiceTime()
		switch {
		case latest.Sub(now) < t.grace/2+2*time.Second:
			return latest, nil
		case try == 2:
			return now, ErrTooSlow
		}
		if _, err := t.table.Get(ctx, key); err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return now, err
		}
	}
}

// newMessageID returns the id of an outbox message that is sent at that time.
func newMessageID(sent time.Time) string {
	return sent.UTC().Format(time.RFC3339) + "_" + uuid.NewString()
}

// untilWritten returns how long, at the time now of the service, the write of the outbox
// message with that id may still be in progress. Until then the row may refer to blobs that
// the write is about to drop. ok is false if no writer can have sent the message yet.
func (t *Table[T]) untilWritten(id string, now time.Time) (wait time.Duration, ok bool) {
	prefix, _, _ := strings.Cut(id, "_")
	sent, err := time.Parse(time.RFC3339, prefix)
	if err != nil {
		return 0, true
	}
	ahead := sent.Sub(now) // a writer adds up to half a grace period, see latestServiceTime
	return min(ahead+t.grace, t.grace), ahead <= t.grace
}

// Handle processes an outbox message of [Options.Outbox]. A worker calls it; a worker of
// package eventual does so with HandleOutbox. Handle deletes the named blobs to which the
// entity has not referred for the grace period.
//
// If retryAfter is positive, the message must become visible again after that time. This is
// the case if the write may still be in progress, if a blob is younger than the grace
// period, or if a reader may have the row that refers to the blob. In the last case Handle
// marks the blob.
//
// A message can come from anyone who can add one to the queue. Handle deletes only blobs that
// Sweep could delete too and, with [Options.Addresses], those whose names begin with
// [Options.Prefix]. For any other message the error matches eventual.ErrBadMessage, and nothing
// is deleted.
//
// One request, and two for each blob that is marked or deleted; none if the message is
// handled within the grace period after it was sent. One more if this Table has made no
// request yet, which determines the time of the service.
func (t *Table[T]) Handle(ctx context.Context, m patterns.OutboxMessage) (retryAfter time.Duration, err error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	key := keys.Key{Partition: m.Partition, Row: m.Row}
	if key.Validate() != nil || len(m.Others) > 0 {
		return 0, fmt.Errorf("delete blobs: %w", azerr.ErrBadMessage)
	}
	now, err := t.serviceTime(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("delete blobs: %w", err)
	}
	if slices.ContainsFunc(m.Reserved, func(named patterns.RowRef) bool { return t.isOwn(named) && !t.mayDelete(named.Row) }) {
		return 0, fmt.Errorf("delete blobs: %w: it names a blob of another table", azerr.ErrBadMessage)
	}
	switch wait, ok := t.untilWritten(m.ID, now); {
	case !ok:
		return 0, fmt.Errorf("delete blobs: %w: it was sent in the future", azerr.ErrBadMessage)
	case wait > 0:
		return wait, nil
	}
	refs, changed, err := t.currentReferences(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("delete blobs: %w", err)
	}
	for _, named := range m.Reserved {
		if !t.isOwn(named) || slices.ContainsFunc(refs, func(r BlobRef) bool { return r.Name == named.Row }) {
			continue
		}
		wait, err := t.deleteOrMark(ctx, named.Row, changed)
		if err != nil {
			return 0, fmt.Errorf("delete blobs: %w", err)
		}
		retryAfter = max(retryAfter, wait)
	}
	return retryAfter, nil
}

// isOwn reports whether ref is to a blob of the container.
func (t *Table[T]) isOwn(ref patterns.RowRef) bool {
	return ref.View == blobView && ref.Partition == t.container
}

// currentReferences returns the references of the entity at key, and the time of its last
// change. If there is no entity, both are zero.
func (t *Table[T]) currentReferences(ctx context.Context, key keys.Key) ([]BlobRef, time.Time, error) {
	row, err := t.table.Get(ctx, key)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	refs, replaced, err := t.references(row.Property)
	return append(refs.list(), replaced.list()...), row.Timestamp, err
}

// deleteOrMark deletes a blob to which its entity, last changed at that time, does not
// refer. If it is too early to delete the blob, it marks the blob and returns the time to
// wait. It compares only times of the service.
func (t *Table[T]) deleteOrMark(ctx context.Context, name string, changed time.Time) (wait time.Duration, err error) {
	props, err := t.blobs.NewBlobClient(name).GetProperties(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, blobError("delete blob", err)
	}
	if props.Date == nil || props.LastModified == nil || props.ETag == nil || azerr.CheckVersion(string(*props.ETag)) != nil {
		return 0, fmt.Errorf("delete blob: %w", patterns.ErrBadReply)
	}
	// The service's times have a resolution of one second, so wait one second more.
	if wait := t.grace - props.Date.Sub(*props.LastModified); wait > 0 {
		return wait + time.Second, nil // a writer may be about to refer to the blob
	}
	o := orphan{etag: props.ETag, marked: isMarked(props.Metadata)}
	unchanged := !changed.IsZero() && props.Date.Sub(changed) >= t.grace+time.Second
	if !o.marked && !unchanged {
		return t.grace + time.Second, o.mark(ctx, t.blobs, name)
	}
	gone, err := o.delete(ctx, t.blobs, name)
	if err == nil && !gone { // a worker that has received the message too has marked the blob
		wait = t.grace + time.Second
	}
	return wait, err
}

// deleteWithOutbox is Delete with an outbox. It reads the references of the row, sends
// them in the outbox message, and deletes the row under the ETag that it read.
func (t *Table[T]) deleteWithOutbox(ctx context.Context, key keys.Key, etag azcore.ETag) (err error) {
	if err := azerr.CheckETag(string(etag)); etag != "" && err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	unconditional := etag == "" || etag == azcore.ETagAny
	var unknown error // of an earlier try
	defer func() { err = sdkerr.StillUnknown(unknown, err) }()
	for try := 1; ; try++ {
		row, err := t.table.Get(ctx, key)
		switch {
		case errors.Is(err, patterns.ErrNotFound) && etag == "":
			return nil
		case err != nil:
			return err
		case !unconditional && row.ETag != etag:
			return fmt.Errorf("delete: %w", patterns.ErrConflict)
		}
		refs, replaced, err := t.references(row.Property)
		if err != nil {
			return err
		}
		err = t.deleteRow(ctx, key, row.ETag, append(refs.list(), replaced.list()...))
		retryable := errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrNotFound)
		if etag == "" && errors.Is(err, patterns.ErrOutcomeUnknown) {
			unknown, retryable = err, true // the next read may resolve it
		}
		if err == nil || !unconditional || !retryable || try >= t.tries || ctx.Err() != nil {
			return err
		}
	}
}

// deleteRow sends the outbox message for refs, and deletes the row at key under its ETag.
func (t *Table[T]) deleteRow(ctx context.Context, key keys.Key, etag azcore.ETag, refs []BlobRef) error {
	start := time.Now()
	if err := t.sendMessage(ctx, key, nil, refs); err != nil {
		return err
	}
	ctx, cancel, err := t.inTime(ctx, start)
	defer cancel()
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return t.table.Delete(ctx, key, etag)
}
