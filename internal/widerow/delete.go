package widerow

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// Delete deletes the entity. The etag is that of the entity; "*" means any version; ""
// means any version, and that a missing entity is not an error. Two requests for each
// attempt, one if the entity does not exist.
func (t *Table) Delete(ctx context.Context, key keys.Key, etag string) error {
	rows, err := t.rowsOf(key)
	if err != nil {
		return err
	}
	if err := azerr.CheckETag(etag); etag != "" && err != nil {
		return err
	}
	anyVersion := etag == "" || etag == "*"
	return t.attempt(ctx, func() (bool, error) {
		old, err := t.readHead(ctx, rows)
		switch {
		case etag == "" && errors.Is(err, azerr.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case old.gone() && etag != "":
			return false, azerr.ErrNotFound
		case !anyVersion && etag != old.tag():
			return false, azerr.ErrConflict
		}
		err = t.deleteVersion(ctx, rows, old, etag == "")
		retry := changedSince(err) && (anyVersion || !errors.Is(err, azerr.ErrConflict))
		return retry, err
	})
}

// deleteVersion deletes the rows of the version old. ifExists means that it succeeds if
// another client deletes the entity at the same time.
func (t *Table) deleteVersion(ctx context.Context, rows entityRows, old *head, ifExists bool) error {
	var changes []txn.Change
	if old.etag != "" {
		changes = append(changes, txn.Change{
			Write: txn.Delete(rows.head(), old.etag),
			Base:  old.base(), Stamps: headStamps, IfExists: ifExists,
		})
	}
	for _, i := range slices.Sorted(maps.Keys(old.parts)) {
		p := old.parts[i]
		changes = append(changes, txn.Change{Write: txn.Delete(rows.part(i, p.staged), p.condition()), IfExists: ifExists})
	}
	_, err := t.commit(ctx, changes, old.required(1, len(changes)))
	return err
}
