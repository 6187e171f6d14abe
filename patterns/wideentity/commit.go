package wideentity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns"
)

// supersededETag stands for the version of an entity that was written, and changed
// again by someone else before its ETag was known. No row ever has it.
const supersededETag = `W/"datetime'1601-01-01T00%3A00%3A00.0000000Z'"`

// headWrite is the change of the head from old, nil for none, to h.
func (h *head) headWrite(rows entityRows, old *head) (*wire.Write, error) {
	body, err := h.body(rows)
	if err != nil {
		return nil, err
	}
	w := &wire.Write{Kind: wire.Insert, PartitionKey: rows.partition, RowKey: rows.head(), Body: body}
	if old != nil {
		w.Kind, w.ETag = wire.Replace, old.etag
	}
	return w, w.Check()
}

func deleteWrite(rows entityRows, row, etag string) *wire.Write {
	return &wire.Write{Kind: wire.Delete, PartitionKey: rows.partition, RowKey: row, ETag: etag}
}

// fits reports whether the writes are within the limits of one transaction.
func (t *Table[T]) fits(writes []*wire.Write) bool {
	n := 0
	for _, w := range writes {
		n += wire.BatchBytes(w)
	}
	return len(writes) <= wire.MaxBatchOps && n <= t.batchBytes
}

// commit carries out a transaction whose first write makes next of old, and fills
// in next's ETag. Of its writes the first firm ones must apply.
func (t *Table[T]) commit(ctx context.Context, rows entityRows, writes []*wire.Write, firm int, old, next *head) error {
	etags, err := t.send(ctx, writes, firm)
	if err == nil {
		next.etag = etags[0]
		return nil
	}
	var e *azerr.Error
	if errors.As(err, &e) && e.Unsure {
		return t.settle(ctx, rows, old, next, e)
	}
	return err
}

// send carries out a transaction. A delete behind the firm writes that finds its row
// gone is taken out: nobody's hand must keep an entity from being written anew.
func (t *Table[T]) send(ctx context.Context, writes []*wire.Write, firm int) ([]string, error) {
	for len(writes) > 0 {
		etags, err := t.wire.Batch(ctx, writes)
		var f *wire.BatchFailure
		if err == nil || !errors.As(err, &f) || f.Cause.Unsure || !errors.Is(err, patterns.ErrNotFound) {
			return etags, err
		}
		if f.Index < firm || f.Index < 0 || f.Index >= len(writes) || writes[f.Index].Kind != wire.Delete {
			return nil, err
		}
		writes = slices.Delete(slices.Clone(writes), f.Index, f.Index+1)
	}
	return nil, nil
}

// settle finds out whether the write of next was carried out although its answer e
// leaves it open: the head tells.
func (t *Table[T]) settle(ctx context.Context, rows entityRows, old, next *head, e *azerr.Error) error {
	now, err := t.readHead(ctx, rows)
	switch {
	case err != nil:
		return unknown(e)
	case now.has(next.version()):
		next.etag = supersededETag
		if now.version() == next.version() {
			next.etag = now.etag
		}
		return nil
	case e.Unanswered && old != nil && now.version() == old.version():
		// A try on its way could still find the version that it wants.
	case old != nil && now.has(old.version()), old == nil && len(now.history) < maxHistory:
		certain := *e // the history has no gap in which the write could be
		certain.Unsure = false
		return &certain
	}
	return unknown(e)
}

// unknown is [patterns.ErrOutcomeUnknown] with what led there. It does not match
// what would invite to do again what may be done already.
func unknown(e *azerr.Error) error {
	for _, kind := range []error{patterns.ErrConflict, patterns.ErrExists, patterns.ErrNotFound} {
		if errors.Is(e, kind) {
			e = e.WithKind(nil)
		}
	}
	return fmt.Errorf("%w: %w", patterns.ErrOutcomeUnknown, e)
}

// lostRace reports whether err says that the entity was not as it had been read.
func lostRace(err error) bool {
	return !errors.Is(err, patterns.ErrOutcomeUnknown) &&
		(errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound))
}

// readHead reads the head alone, or fails with [patterns.ErrNotFound].
func (t *Table[T]) readHead(ctx context.Context, rows entityRows) (*head, error) {
	var g edm.StoredRows
	err := t.wire.Get(ctx, rows.partition, rows.head(), func(etag string, body []byte) error {
		g = edm.StoredRows{} // this may be a second try
		return g.AddEntity(etag, body)
	})
	if err != nil {
		return nil, err
	}
	return parseHead(&g.Rows[0])
}
