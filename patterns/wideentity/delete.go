package wideentity

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Delete deletes the entity at key, all rows in one transaction. An empty etag means:
// if it exists, whatever its version; a missing entity is then fine. azcore.ETagAny
// means: whatever its version, but it must exist. Any other etag must be the
// entity's: [patterns.ErrConflict] if it is not. Two requests, two more for each lost
// race; one where there is none.
//
// When the reply to a Delete with an etag was lost and the entity is gone afterwards,
// nothing tells who deleted it: the answer is [patterns.ErrOutcomeUnknown].
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	rows, err := rowsOf(key)
	var stop error // no race
	if err == nil {
		err = t.race(ctx, func() error {
			old, err := t.readHead(ctx, rows)
			switch {
			case err == nil && etag != "" && etag != azcore.ETagAny && string(etag) != old.etag:
				stop = patterns.ErrConflict
			case err == nil:
				err = t.remove(ctx, rows, old, etag)
				if !errors.Is(err, patterns.ErrConflict) || etag == "" || etag == azcore.ETagAny {
					return err
				}
				stop = err
			case !errors.Is(err, patterns.ErrNotFound) || etag != "":
				stop = err
			}
			return nil
		})
		if err == nil {
			err = stop
		}
	}
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// remove deletes all rows that old names.
func (t *Table[T]) remove(ctx context.Context, rows entityRows, old *head, etag azcore.ETag) error {
	writes := []*wire.Write{deleteWrite(rows, rows.head(), old.etag)}
	for i, p := range old.parts {
		writes = append(writes, deleteWrite(rows, rows.part(i, p.staged), "*"))
	}
	_, err := t.send(ctx, writes, 1)
	var e *azerr.Error
	if err == nil || !errors.As(err, &e) || !e.Unsure {
		return err
	}
	now, rerr := t.readHead(ctx, rows)
	switch {
	case rerr == nil && e.Unanswered && now.version() == old.version():
	case rerr == nil && now.has(old.version()):
		certain := *e
		certain.Unsure = false
		return &certain
	case errors.Is(rerr, patterns.ErrNotFound) && etag == "":
		return nil
	}
	return unknown(e)
}
