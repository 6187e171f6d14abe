package archive

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Mover struct {
	current, old *aztables.Client
}

func NewMover(svc *aztables.ServiceClient) *Mover {
	return &Mover{current: svc.NewClient("current"), old: svc.NewClient("archive")}
}

func gone(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == http.StatusNotFound
}

// Move takes one employee to the archive. It may be repeated.
func (m *Mover) Move(ctx context.Context, dept, id string) error {
	resp, err := m.current.GetEntity(ctx, dept, id, nil)
	if gone(err) {
		_, err = m.old.GetEntity(ctx, dept, id, nil)
		return err
	}
	if err != nil {
		return err
	}
	if _, err := m.old.UpsertEntity(ctx, resp.Value, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if _, err := m.current.DeleteEntity(ctx, dept, id, &aztables.DeleteEntityOptions{IfMatch: &resp.ETag}); err != nil && !gone(err) {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}
