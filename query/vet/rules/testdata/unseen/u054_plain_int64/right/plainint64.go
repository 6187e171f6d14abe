package right

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Volume struct {
	Host  string
	Mount string
	Bytes int64
}

type Inventory struct{ table *aztables.Client }

func (i *Inventory) encode(v Volume) ([]byte, error) {
	props := map[string]any{
		"Mount":   v.Mount,
		"Bytes":   aztables.EDMInt64(v.Bytes),
		"Checked": aztables.EDMDateTime(time.Now().UTC()),
	}
	return json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{
			PartitionKey: v.Host,
			RowKey:       base64.RawURLEncoding.EncodeToString([]byte(v.Mount)),
		},
		Properties: props,
	})
}

// Report stores the volumes of a host.
func (i *Inventory) Report(ctx context.Context, vols []Volume) error {
	var errs []error
	for _, v := range vols {
		b, err := i.encode(v)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := i.table.UpsertEntity(ctx, b, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", v.Host, v.Mount, err))
		}
	}
	return errors.Join(errs...)
}
