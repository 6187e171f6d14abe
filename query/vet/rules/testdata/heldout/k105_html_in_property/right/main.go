package newsletter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/google/uuid"
)

type Issue struct {
	List     uuid.UUID
	Number   uint32
	Subject  string
	Articles []string
}

type Store struct {
	issues *aztables.Client
	pages  *azblob.Client
	layout *template.Template
}

// Save renders an issue with all its articles and keeps the result.
func (s *Store) Save(ctx context.Context, is Issue) error {
	var page bytes.Buffer
	if err := s.layout.Execute(&page, is); err != nil {
		return fmt.Errorf("rendering issue %d: %w", is.Number, err)
	}
	name := fmt.Sprintf("%s/%010d.html", is.List, is.Number)
	if _, err := s.pages.UploadBuffer(ctx, "newsletters", name, page.Bytes(), nil); err != nil {
		return fmt.Errorf("storing issue %d: %w", is.Number, err)
	}
	body, err := json.Marshal(map[string]string{
		"PartitionKey": is.List.String(),
		"RowKey":       fmt.Sprintf("%010d", is.Number),
		"Subject":      is.Subject,
		"Page":         name,
	})
	if err != nil {
		return err
	}
	_, err = s.issues.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("saving issue %d: %w", is.Number, err)
	}
	return nil
}
