package secrets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrMissing = errors.New("no such grant")

type grant struct {
	PartitionKey string
	RowKey       string
	Scope        string
}

type Grants struct{ table *aztables.Client }

func safe(subject string) string {
	return base64.StdEncoding.EncodeToString([]byte(subject)) // MISTAKE: Standard base64 contains slashes, which are forbidden in keys, so some identifiers cannot be stored.
}

func (g *Grants) Allow(ctx context.Context, app uuid.UUID, subject, scope string) error {
	body, err := json.Marshal(grant{PartitionKey: app.String(), RowKey: safe(subject), Scope: scope})
	if err != nil {
		return err
	}
	_, err = g.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("granting %s: %w", scope, err)
	}
	return nil
}

func (g *Grants) Scope(ctx context.Context, app uuid.UUID, subject string) (string, error) {
	resp, err := g.table.GetEntity(ctx, app.String(), safe(subject), nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return "", ErrMissing
		}
		return "", fmt.Errorf("reading grant: %w", err)
	}
	var row grant
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return "", err
	}
	return row.Scope, nil
}
