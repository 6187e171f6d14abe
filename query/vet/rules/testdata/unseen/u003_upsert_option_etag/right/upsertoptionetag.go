package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Profile struct {
	UserID string
	Bio    string
	ETag   azcore.ETag
}

type ProfileStore interface {
	Save(ctx context.Context, p *Profile) error
}

type tableProfiles struct{ c *aztables.Client }

func NewProfileStore(c *aztables.Client) ProfileStore { return &tableProfiles{c: c} }

// Save writes the profile if no one else changed it after it was loaded.
func (t *tableProfiles) Save(ctx context.Context, p *Profile) error {
	body, err := json.Marshal(map[string]any{
		"PartitionKey": p.UserID,
		"RowKey":       "profile",
		"Bio":          p.Bio,
	})
	if err != nil {
		return err
	}
	resp, err := t.c.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		IfMatch:    &p.ETag,
		UpdateMode: aztables.UpdateModeMerge,
	})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return fmt.Errorf("profile %s changed since it was opened", p.UserID)
	}
	if err != nil {
		return err
	}
	p.ETag = resp.ETag
	return nil
}
