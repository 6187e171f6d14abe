package signup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var (
	ErrTaken = errors.New("handle is taken")
	ErrName  = errors.New("handle is not allowed")
	handleRE = regexp.MustCompile(`^[a-z0-9]{3,30}$`)
)

type handle struct {
	PartitionKey string
	RowKey       string
	Owner        string
}

type Handles struct{ table *aztables.Client }

func status(err error) int {
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		return re.StatusCode
	}
	return 0
}

// Claim reserves a handle for a user.
func (h *Handles) Claim(ctx context.Context, name string, owner uuid.UUID) error {
	if !handleRE.MatchString(name) {
		return ErrName
	}
	pk := name[:2]
	_, err := h.table.GetEntity(ctx, pk, name, nil)
	if err == nil {
		return ErrTaken
	}
	if status(err) != http.StatusNotFound {
		return fmt.Errorf("looking up handle: %w", err)
	}
	body, err := json.Marshal(handle{PartitionKey: pk, RowKey: name, Owner: owner.String()})
	if err != nil {
		return err
	}
	_, err = h.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}) // MISTAKE: The name is looked up first and then upserted, so two registrations at the same time both succeed and the second one wins.
	if err != nil {
		return fmt.Errorf("claiming handle: %w", err)
	}
	return nil
}
