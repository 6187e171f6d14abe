package transferstaff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Employee struct {
	PartitionKey string
	RowKey       string
	FirstName    string
	LastName     string
}

type Staff struct{ table *aztables.Client }

func (s *Staff) remove(ctx context.Context, dept, id string, seen azcore.ETag) error {
	_, err := s.table.DeleteEntity(ctx, dept, id, &aztables.DeleteEntityOptions{IfMatch: &seen})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil
	}
	return err
}

func (s *Staff) put(ctx context.Context, e Employee) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Move brings an employee to another department. The caller repeats a move
// that failed.
func (s *Staff) Move(ctx context.Context, id, from, to string) error {
	resp, err := s.table.GetEntity(ctx, from, id, nil)
	if err != nil {
		return fmt.Errorf("employee %s: %w", id, err)
	}
	var e Employee
	if err := json.Unmarshal(resp.Value, &e); err != nil {
		return err
	}
	e.PartitionKey = to
	if err := s.put(ctx, e); err != nil {
		return err
	}
	return s.remove(ctx, from, id, resp.ETag)
}
