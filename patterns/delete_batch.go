package patterns

import (
	"context"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// maxUnknown is how often a transaction is sent again after its outcome was unknown.
const maxUnknown = 3

// delete deletes rows of one partition in one transaction. It needs more if rows were deleted
// or changed by other clients.
func (d *deletion[T]) delete(ctx context.Context, rows []deletedRow) (err error) {
	unknown := 0
	var open error // the last unknown outcome
	defer func() { err = sdkerr.StillUnknown(open, err) }()
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := d.table.Batch()
		for _, t := range rows {
			batch.Delete(t.key, t.etag)
		}
		_, err := batch.Commit(ctx)
		if err == nil {
			d.done(rows, len(rows), 0)
			return nil
		}
		if errors.Is(err, ErrNeedsAccelerate) {
			if rows, err = d.deleteSingly(ctx, rows, err); err != nil {
				return err
			}
			continue
		}
		d.done(nil, 0, 0)
		switch {
		case errors.Is(err, ErrTableNotFound):
			return err
		case errors.Is(err, ErrOutcomeUnknown) && unknown < maxUnknown:
			unknown++
			open = err
		case errors.Is(err, ErrOutcomeUnknown):
			return err
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict):
			return err
		}
		if rows, err = d.remaining(ctx, rows, err); err != nil {
			return err
		}
	}
	return nil
}

// remaining reads which of rows still have to be deleted after their transaction has failed
// with failure. Rows that no longer exist, or have changed, are done.
func (d *deletion[T]) remaining(ctx context.Context, rows []deletedRow, failure error) ([]deletedRow, error) {
	// rows are in key order, except those of Cosmos DB for Table.
	byRow := func(a, b deletedRow) int { return keys.Compare(a.key.Row, b.key.Row) }
	first, last := slices.MinFunc(rows, byRow).key, slices.MaxFunc(rows, byRow).key
	between := query.And(query.PartitionKey.Eq(first.Partition), query.RowKey.Ge(first.Row), query.RowKey.Le(last.Row))
	if narrow := query.And(between, d.filter); narrow.Comparisons() <= query.MaxComparisons {
		between = narrow // returns no more rows than the first read did
	}
	existing := make(map[string]azcore.ETag)
	options := d.options.QueryOptions
	options.Allow = 0 // one partition
	for item, err := range d.table.Query(ctx, between, &options) {
		if err != nil {
			return rows, errors.Join(failure, err)
		}
		existing[item.Key.Row] = item.ETag
	}
	var left, gone, changed []deletedRow
	for _, t := range rows {
		etag, ok := existing[t.key.Row]
		switch {
		case !ok:
			gone = append(gone, t)
		case t.etag != "" && t.etag != etag:
			changed = append(changed, t)
		default:
			left = append(left, t)
		}
	}
	d.done(gone, len(gone), 0)
	d.done(changed, 0, len(changed))
	return left, nil
}

// deleteSingly deletes the row that aztables cannot address in a transaction in a separate
// request, and returns the other rows. failure is the error that names the row.
func (d *deletion[T]) deleteSingly(ctx context.Context, rows []deletedRow, failure error) ([]deletedRow, error) {
	var f *BatchError
	if !errors.As(failure, &f) || f.Index < 0 || f.Index >= len(rows) {
		return rows, failure
	}
	t := rows[f.Index]
	deleted, kept := 1, 0
	switch err := d.table.Delete(ctx, t.key, t.etag); {
	case errors.Is(err, ErrOutcomeUnknown):
		return rows, err
	case errors.Is(err, ErrNotFound):
	case errors.Is(err, ErrConflict):
		deleted, kept = 0, 1
	case err != nil:
		return rows, err
	}
	d.done([]deletedRow{t}, deleted, kept)
	left := append(rows[:f.Index:f.Index], rows[f.Index+1:]...)
	return left, nil
}
