package store

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Store struct{ c *aztables.Client }

func New(c *aztables.Client) *Store { return &Store{c: c} }

func (s *Store) Load(ctx context.Context, kind, id string) ([]byte, error) {
	resp, err := s.c.GetEntity(ctx, kind, id, nil)
	if err != nil {
		return nil, fmt.Errorf("load %s %s: %w", kind, id, err)
	}
	return resp.Value, nil
}

func (s *Store) Save(ctx context.Context, body []byte) error {
	_, err := s.c.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}
