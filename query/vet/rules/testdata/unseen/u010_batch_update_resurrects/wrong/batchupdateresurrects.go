package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Device struct {
	Site, Serial string
	Firmware     string
}

// Rollout writes the target firmware to devices that are still registered.
func Rollout(ctx context.Context, registry *aztables.Client, site, version string, devices []Device) error {
	const max = 100
	for len(devices) > 0 {
		n := min(max, len(devices))
		var acts []aztables.TransactionAction
		for _, d := range devices[:n] {
			ent, err := json.Marshal(map[string]any{
				"PartitionKey":   site,
				"RowKey":         d.Serial,
				"TargetFirmware": version,
			})
			if err != nil {
				return err
			}
			acts = append(acts, aztables.TransactionAction{
				ActionType: aztables.TransactionTypeUpdateMerge, // MISTAKE: without IfMatch a removed device comes back
				Entity:     ent,
			})
		}
		if _, err := registry.SubmitTransaction(ctx, acts, nil); err != nil {
			return fmt.Errorf("site %s: %w", site, err)
		}
		devices = devices[n:]
	}
	return nil
}
