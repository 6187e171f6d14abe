package bench

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"
)

// The jobs, written by hand with aztables.

func handRange[T any](ctx context.Context, table *aztables.Client, filter string) (rows int, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return rows, err
		}
		for _, raw := range page.Entities {
			var e T
			if err := json.Unmarshal(raw, &e); err != nil {
				return rows, err
			}
			rows++
		}
	}
	return rows, nil
}

func handGet[T any](ctx context.Context, table *aztables.Client, pk, rk string) (T, error) {
	e, _, err := handGetVersion[T](ctx, table, pk, rk)
	return e, err
}

// handGetVersion also returns the ETag, for a write with If-Match.
func handGetVersion[T any](ctx context.Context, table *aztables.Client, pk, rk string) (e T, etag azcore.ETag, err error) {
	resp, err := table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return e, "", err
	}
	return e, resp.ETag, json.Unmarshal(resp.Value, &e)
}

// handKeys reads each row by its address, a few concurrently.
func handKeys[T any](ctx context.Context, table *aztables.Client, rowKeys []any) (int, error) {
	rows := make([]T, len(rowKeys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(pointWidth)
	for i, key := range rowKeys {
		g.Go(func() (err error) {
			rows[i], err = handGet[T](ctx, table, "Sales", key.(string))
			return err
		})
	}
	return len(rows), g.Wait()
}

// handTransaction is a transaction that is being filled. Its error is the first one.
type handTransaction struct {
	actions []aztables.TransactionAction
	err     error
}

func (t *handTransaction) add(kind aztables.TransactionType, row any, etag *azcore.ETag) {
	raw, err := json.Marshal(row)
	if t.err == nil {
		t.err = err
	}
	t.actions = append(t.actions, aztables.TransactionAction{ActionType: kind, Entity: raw, IfMatch: etag})
}

func (t *handTransaction) insert(row any) { t.add(aztables.TransactionTypeAdd, row, nil) }

func (t *handTransaction) submit(ctx context.Context, table *aztables.Client) error {
	if t.err != nil {
		return t.err
	}
	_, err := table.SubmitTransaction(ctx, t.actions, nil)
	return err
}

func handBatch[T any](ctx context.Context, table *aztables.Client, rows []T) error {
	t := handTransaction{actions: make([]aztables.TransactionAction, 0, len(rows))}
	for i := range rows {
		t.insert(rows[i])
	}
	return t.submit(ctx, table)
}
