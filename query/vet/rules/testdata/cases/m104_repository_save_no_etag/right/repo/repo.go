package repo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Versioned is an entity together with the version that was read.
type Versioned[T any] struct {
	Value T
	ETag  azcore.ETag
}

// Repo stores one type in one table.
type Repo[T any] struct{ table *aztables.Client }

func New[T any](c *aztables.Client) *Repo[T] { return &Repo[T]{table: c} }

func (r *Repo[T]) Load(ctx context.Context, pk, rk string) (*Versioned[T], error) {
	resp, err := r.table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	v := &Versioned[T]{ETag: resp.ETag}
	if err := json.Unmarshal(resp.Value, &v.Value); err != nil {
		return nil, err
	}
	return v, nil
}

// Save writes a value that Load returned; a change made meanwhile is a 412.
func (r *Repo[T]) Save(ctx context.Context, v *Versioned[T]) error {
	body, err := json.Marshal(v.Value)
	if err != nil {
		return err
	}
	_, err = r.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &v.ETag})
	return err
}
