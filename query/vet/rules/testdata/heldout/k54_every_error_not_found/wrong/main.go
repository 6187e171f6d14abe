package profiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrNotFound = errors.New("profile not found")

type Profile struct {
	RowKey      string
	DisplayName string
	Bio         string
}

type Reader interface {
	Profile(ctx context.Context, tenant, user uuid.UUID) (Profile, error)
}

type tableReader struct {
	client *aztables.Client
}

var _ Reader = tableReader{}

func (t tableReader) Profile(ctx context.Context, tenant, user uuid.UUID) (Profile, error) {
	var p Profile
	resp, err := t.client.GetEntity(ctx, tenant.String(), user.String(), nil)
	if err != nil {
		return p, ErrNotFound // MISTAKE: Every failed read, even a timeout or a refused login, is reported as a missing user.
	}
	if err := json.Unmarshal(resp.Value, &p); err != nil {
		return p, fmt.Errorf("decoding profile of %s: %w", user, err)
	}
	return p, nil
}
