package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Invitation struct {
	PartitionKey string
	RowKey       string
	Email        string
	ExpiresAt    aztables.EDMDateTime
	ExpiresAtT   string `json:"ExpiresAt@odata.type"`
}

type Invitations struct{ c *aztables.Client }

func (i Invitations) Create(ctx context.Context, team, mail string) (string, error) {
	inv := Invitation{PartitionKey: team, RowKey: uuid.NewString(), Email: mail}
	inv.ExpiresAt, inv.ExpiresAtT = aztables.EDMDateTime(time.Now().UTC().Add(72*time.Hour)), "Edm.DateTime"
	b, err := json.Marshal(inv)
	if err != nil {
		return "", err
	}
	_, err = i.c.AddEntity(ctx, b, nil)
	return inv.RowKey, err
}

// Expire removes the invitations of a team that have run out.
func (i Invitations) Expire(ctx context.Context, team string) error {
	now := time.Now().UTC().Format("2006-01-02T15:04:05Z")
	f := fmt.Sprintf("PartitionKey eq '%s' and ExpiresAt lt datetime'%s'", team, now)
	pager := i.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("PartitionKey,RowKey")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var row struct{ RowKey string }
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}
			_, err := i.c.DeleteEntity(ctx, team, row.RowKey, nil)
			var re *azcore.ResponseError
			if err != nil && !(errors.As(err, &re) && re.StatusCode == http.StatusNotFound) {
				return err
			}
		}
	}
	return nil
}
