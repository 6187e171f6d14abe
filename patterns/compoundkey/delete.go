package compoundkey

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Delete deletes a parent and all its children, whatever their versions. It is not an
// error if they do not exist. Up to 100 rows are deleted in one transaction, all or none.
// More rows need several transactions, and the parent is deleted by the last one: a Delete
// that was interrupted can be repeated, and until then the parent exists. A child that is
// added meanwhile may remain.
//
// One request for each 1,000 rows to find them, one for each 100 rows to delete them, and
// one more for each row that another client deletes meanwhile.
func (f *Family[P, C]) Delete(ctx context.Context, id ID) error {
	if err := f.usable(); err != nil {
		return err
	}
	parent, err := f.ParentKey(id)
	if err != nil {
		return err
	}
	var rows []keys.Key
	for row, err := range f.rows.Query(ctx, familyFilter(id, parent), &patterns.QueryOptions{Select: []string{}}) {
		switch {
		case err != nil:
			return err
		case row.Key == parent:
			rows = slices.Insert(rows, 0, parent)
		case strings.HasPrefix(row.Key.Row, prefix(id)):
			rows = append(rows, row.Key)
		}
	}
	for len(rows) > 0 { // from the end
		n := max(0, len(rows)-patterns.MaxBatchOps)
		if err := f.deleteRows(ctx, rows[n:]); err != nil {
			return err
		}
		rows = rows[:n]
	}
	return nil
}

// deleteRows deletes rows in one transaction. If one of them no longer exists, the
// transaction fails as a whole and is repeated without that row. deleteRows modifies rows.
func (f *Family[P, C]) deleteRows(ctx context.Context, rows []keys.Key) error {
	for len(rows) > 0 {
		b := f.rows.Batch()
		for _, key := range rows {
			b.Delete(key, "")
		}
		_, err := b.Commit(ctx)
		var failed *patterns.BatchError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, patterns.ErrNotFound) && errors.As(err, &failed) && failed.Index >= 0:
			rows = slices.Delete(rows, failed.Index, failed.Index+1)
		default:
			return err
		}
	}
	return nil
}
