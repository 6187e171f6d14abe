package attachments

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/google/uuid"
)

type Attachments struct {
	rows  *aztables.Client
	blobs *azblob.Client
}

func gone(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == http.StatusNotFound
}

func (a *Attachments) deleteRow(ctx context.Context, ticket, id uuid.UUID) error {
	_, err := a.rows.DeleteEntity(ctx, ticket.String(), id.String(), nil)
	if err != nil && !gone(err) {
		return fmt.Errorf("attachment row %s: %w", id, err)
	}
	return nil
}

func (a *Attachments) deleteBlob(ctx context.Context, ticket, id uuid.UUID) error {
	_, err := a.blobs.DeleteBlob(ctx, "attachments", ticket.String()+"/"+id.String(), nil)
	if err != nil && !gone(err) {
		return fmt.Errorf("attachment blob %s: %w", id, err)
	}
	return nil
}

// Delete removes an attachment and may be repeated after an error.
func (a *Attachments) Delete(ctx context.Context, ticket, id uuid.UUID) error {
	if err := a.deleteRow(ctx, ticket, id); err != nil {
		return err
	}
	return a.deleteBlob(ctx, ticket, id)
}
