package playlists

import (
	"context"
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
		if len(acts) == 0 {
			continue
		}
		if _, err := s.tracks.SubmitTransaction(ctx, acts, nil); err != nil { // MISTAKE: a page has up to 1000 rows, a transaction only 100
			return err
		}
	}
	return nil
}
