package notes

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type App struct {
	notes *aztables.Client
}

type Note struct {
	RowKey, Owner, Text string
}

// Save keeps a note under its owner's partition.
func (a *App) Save(ctx context.Context, owner, id, text string) error {
	b, err := json.Marshal(map[string]string{"PartitionKey": owner, "RowKey": id, "Owner": owner, "Text": text})
	if err != nil {
		return err
	}
	_, err = a.notes.UpsertEntity(ctx, b, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// ListHandler returns the handler that shows the notes of the user.
func (a *App) ListHandler(user func(*http.Request) string) http.HandlerFunc {
	query := func(ctx context.Context, owner string) (notes []Note, err error) {
		f := "Owner eq '" + strings.ReplaceAll(owner, "'", "''") + "'" // MISTAKE: the owner is the PartitionKey, this filter reads all partitions
		pager := a.notes.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, raw := range page.Entities {
				var n Note
				if err := json.Unmarshal(raw, &n); err != nil {
					return nil, err
				}
				notes = append(notes, n)
			}
		}
		return notes, nil
	}
	return func(w http.ResponseWriter, r *http.Request) {
		list, err := query(r.Context(), user(r))
		if err != nil {
			http.Error(w, "notes are not available", http.StatusBadGateway)
			return
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			return
		}
	}
}
