package notes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Note struct {
	PartitionKey string
	RowKey       string
	Text         string
	Archived     bool
	ArchivedBy   string `json:",omitempty"`
}

type Notebook struct{ client *aztables.Client }

func (n Notebook) Write(ctx context.Context, user uuid.UUID, text string) (uuid.UUID, error) {
	if len(text) > 20000 {
		return uuid.Nil, fmt.Errorf("note has %d bytes", len(text))
	}
	id := uuid.New()
	body, err := json.Marshal(Note{PartitionKey: user.String(), RowKey: id.String(), Text: text})
	if err != nil {
		return uuid.Nil, err
	}
	if _, err := n.client.AddEntity(ctx, body, nil); err != nil {
		return uuid.Nil, fmt.Errorf("writing note: %w", err)
	}
	return id, nil
}

// Current lists the notes of a user that are not archived.
func (n Notebook) Current(ctx context.Context, user uuid.UUID) ([]Note, error) {
	filter := "PartitionKey eq '" + user.String() + "' and ArchivedBy eq null" // MISTAKE: Tables has no null to compare with, so rows without ArchivedBy are never found by this filter.
	var notes []Note
	pager := n.client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("notes of %s: %w", user, err)
		}
		for _, raw := range page.Entities {
			var note Note
			if err := json.Unmarshal(raw, &note); err != nil {
				return nil, err
			}
			notes = append(notes, note)
		}
	}
	return notes, nil
}
