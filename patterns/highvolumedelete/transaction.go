package highvolumedelete

import (
	"context"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// maxUnknown is how often a transaction without a definite answer is sent again.
const maxUnknown = 3

// delete deletes rows of one partition by one transaction; by more
// where it meets rows that are gone or changed.
func (d *deletion[T]) delete(ctx context.Context, rows []target) error {
	unknown := 0
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
			d.done(rows, func(p *DeleteProgress) { p.Transactions++; p.Deleted += len(rows) })
			return nil
		}
		if errors.Is(err, patterns.ErrNeedsAccelerate) {
			if rows, err = d.single(ctx, rows, err); err != nil {
				return err
			}
			continue
		}
		d.done(nil, func(p *DeleteProgress) { p.Transactions++ })
		switch {
		case errors.Is(err, patterns.ErrTableNotFound):
			return err
		case errors.Is(err, patterns.ErrOutcomeUnknown) && unknown < maxUnknown:
			unknown++
		case errors.Is(err, patterns.ErrOutcomeUnknown):
			return err
		case !errors.Is(err, patterns.ErrNotFound) && !errors.Is(err, patterns.ErrConflict):
			return err
		}
		if rows, err = d.again(ctx, rows, err); err != nil {
			return err
		}
	}
	return nil
}

// again looks which of rows are still to be deleted after a transaction failed by
// refusal, or by no answer. Those that are not there any more, or have changed, are
// done.
func (d *deletion[T]) again(ctx context.Context, rows []target, refusal error) ([]target, error) {
	// In order already, but for Cosmos DB for Table.
	byRow := func(a, b target) int { return keys.Compare(a.key.Row, b.key.Row) }
	first, last := slices.MinFunc(rows, byRow).key, slices.MaxFunc(rows, byRow).key
	between := query.And(query.PartitionKey.Eq(first.Partition), query.RowKey.Between(first.Row, last.Row))
	if narrow := query.And(between, d.filter); narrow.Comparisons() <= query.MaxComparisons {
		between = narrow // no more rows than the reading has looked at
	}
	there := make(map[string]azcore.ETag)
	for item, err := range d.table.Query(ctx, between, &patterns.QueryOptions{Select: []string{}}) {
		if err != nil {
			return rows, errors.Join(refusal, err)
		}
		there[item.Key.Row] = item.ETag
	}
	var left, gone, changed []target
	for _, t := range rows {
		etag, ok := there[t.key.Row]
		switch {
		case !ok:
			gone = append(gone, t)
		case t.etag != "" && t.etag != etag:
			changed = append(changed, t)
		default:
			left = append(left, t)
		}
	}
	d.done(gone, func(p *DeleteProgress) { p.Gone += len(gone) })
	d.done(changed, func(p *DeleteProgress) { p.Changed += len(changed) })
	return left, nil
}

// single deletes, by a request of its own, the row that aztables cannot address in
// the transaction which refusal is about, and gives the others.
func (d *deletion[T]) single(ctx context.Context, rows []target, refusal error) ([]target, error) {
	var f *patterns.BatchError
	if !errors.As(refusal, &f) || f.Index < 0 || f.Index >= len(rows) {
		return rows, refusal
	}
	t := rows[f.Index]
	note := func(p *DeleteProgress) { p.Transactions++; p.Deleted++ }
	switch err := d.table.Delete(ctx, t.key, t.etag); {
	case errors.Is(err, patterns.ErrOutcomeUnknown):
		return rows, err
	case errors.Is(err, patterns.ErrNotFound):
		note = func(p *DeleteProgress) { p.Transactions++; p.Gone++ }
	case errors.Is(err, patterns.ErrConflict):
		note = func(p *DeleteProgress) { p.Transactions++; p.Changed++ }
	case err != nil:
		return rows, err
	}
	d.done([]target{t}, note)
	left := append(rows[:f.Index:f.Index], rows[f.Index+1:]...)
	return left, nil
}
