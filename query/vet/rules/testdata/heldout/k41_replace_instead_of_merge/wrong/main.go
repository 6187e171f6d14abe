package contacts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Contact struct {
	PartitionKey string
	RowKey       string
	Name         string
	Phone        string
	Street       string
	City         string
}

type Book struct {
	table *aztables.Client
}

func (b *Book) Create(ctx context.Context, c Contact) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := b.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("creating contact: %w", err)
	}
	return nil
}

// Move enters the new address of a contact.
func (b *Book) Move(ctx context.Context, owner, id uuid.UUID, street, city string) error {
	body, err := json.Marshal(map[string]string{
		"PartitionKey": owner.String(),
		"RowKey":       id.String(),
		"Street":       street,
		"City":         city,
	})
	if err != nil {
		return err
	}
	opts := aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace} // MISTAKE: Only the new address is sent but in replace mode, so name and telephone number of the contact are erased.
	if _, err := b.table.UpdateEntity(ctx, body, &opts); err != nil {
		return fmt.Errorf("moving contact %s: %w", id, err)
	}
	return nil
}
