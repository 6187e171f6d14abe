package onebyone

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type rows struct{ table *aztables.Client }

func (r *rows) writeAll(ctx context.Context, bodies [][]byte) error {
	for _, body := range bodies {
		if _, err := r.table.UpsertEntity(ctx, body, nil); err != nil { // want `the rows are written one after the other.*onebyone, warning`
			return err
		}
	}
	return nil
}

func (r *rows) get(ctx context.Context, id string) ([]byte, error) {
	reply, err := r.table.GetEntity(ctx, "rows", id, nil)
	return reply.Value, err
}

func (r *rows) readAll(ctx context.Context, ids []string) (all [][]byte, err error) {
	for _, id := range ids {
		one, err := r.get(ctx, id) // want `the rows are read one after the other`
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (r *rows) retry(ctx context.Context, body []byte) (err error) {
	for range 3 {
		if _, err = r.table.UpsertEntity(ctx, body, nil); err == nil {
			return nil
		}
	}
	return err
}

func (r *rows) transactions(ctx context.Context, chunks [][]aztables.TransactionAction) error {
	for _, chunk := range chunks {
		if _, err := r.table.SubmitTransaction(ctx, chunk, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) counted(ctx context.Context, ids []string) error {
	for i := 0; i < len(ids); i++ {
		if _, err := r.table.GetEntity(ctx, "rows", ids[i], nil); err != nil { // want `the rows are read one after the other`
			return err
		}
	}
	for attempt := 0; attempt < 3; attempt++ {
		if _, err := r.table.GetEntity(ctx, "rows", ids[0], nil); err == nil {
			return nil
		}
	}
	return nil
}
