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

type Settings struct {
	aztables.Entity
	Theme     string
	PageSize  int32
	BetaUsers bool
}

var defaults = Settings{Theme: "light", PageSize: 25}

type SettingsRepo struct{ tbl *aztables.Client }

// Load returns the settings of a tenant, the defaults for a new one.
func (r SettingsRepo) Load(ctx context.Context, tenant string) (Settings, error) {
	resp, err := r.tbl.GetEntity(ctx, tenant, "settings", nil)
	var re *azcore.ResponseError
	if err != nil && !(errors.As(err, &re) && re.StatusCode == http.StatusNotFound) {
		return Settings{}, fmt.Errorf("settings of %s: %w", tenant, err)
	}
	if err != nil {
		s := defaults
		s.PartitionKey, s.RowKey = tenant, "settings"
		return s, nil
	}
	var s Settings
	if err := json.Unmarshal(resp.Value, &s); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// Create stores the first settings of a tenant.
func (r SettingsRepo) Create(ctx context.Context, s Settings) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = r.tbl.AddEntity(ctx, raw, nil)
	return err
}
