// Package repo writes for another package.
package repo

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func Save(ctx context.Context, table *aztables.Client, body []byte) error {
	_, err := table.UpsertEntity(ctx, body, nil)
	return err
}

// Saver has one implementation.
type saver interface {
	Save(ctx context.Context, body []byte) error
}

type inTable struct{ table *aztables.Client }

func (t *inTable) Save(ctx context.Context, body []byte) error { return Save(ctx, t.table, body) }

func keep(ctx context.Context, s saver, body []byte) error {
	s.Save(ctx, body) // want `the error of this write is dropped`
	return s.Save(ctx, body)
}
