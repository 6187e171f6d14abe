package playlists

import (
	"context"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Service struct {
	tracks *aztables.Client
}

// Clear deletes all tracks of a playlist.
func (s *Service) Clear(ctx context.Context, list string) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(list, "'", "''") + "'"
	pager := s.tracks.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &f,
		Select: to.Ptr("PartitionKey,RowKey"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		acts := make([]aztables.TransactionAction, 0, len(page.Entities))
		for _, raw := range page.Entities {
			acts = append(acts, aztables.TransactionAction{
				ActionType: aztables.TransactionTypeDelete,
				Entity:     raw,
			})
		}
		for part := range slices.Chunk(acts, 100) {
			if _, err := s.tracks.SubmitTransaction(ctx, part, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
