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
	body, err := json.Marshal(handle{PartitionKey: pk, RowKey: name, Owner: owner.String()})
	if err != nil {
		return err
	}
	_, err = h.table.AddEntity(ctx, body, nil)
	if status(err) == http.StatusConflict {
		return ErrTaken
	}
	if err != nil {
		return fmt.Errorf("claiming handle: %w", err)
	}
	return nil
}
