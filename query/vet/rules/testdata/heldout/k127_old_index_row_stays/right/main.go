package devindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type device struct {
	PartitionKey string
	RowKey       string
	Serial       uuid.UUID
}

type Devices struct {
	devices *aztables.Client
	serials *aztables.Client
}

func (d *Devices) putIndex(ctx context.Context, serial uuid.UUID, dev device) error {
	s := serial.String()
	body, err := json.Marshal(map[string]string{"PartitionKey": s[:2], "RowKey": s, "Tenant": dev.PartitionKey, "Device": dev.RowKey})
	if err != nil {
		return err
	}
	_, err = d.serials.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

func (d *Devices) dropIndex(ctx context.Context, serial uuid.UUID) error {
	s := serial.String()
	_, err := d.serials.DeleteEntity(ctx, s[:2], s, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil
	}
	return err
}

// Replace enters the serial number of a replacement device. The index row is
// written first, so that every stored serial number can be found.
func (d *Devices) Replace(ctx context.Context, tenant, id, serial uuid.UUID) error {
	got, err := d.devices.GetEntity(ctx, tenant.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("reading device %s: %w", id, err)
	}
	var dev device
	if err := json.Unmarshal(got.Value, &dev); err != nil {
		return err
	}
	old := dev.Serial
	if old == serial {
		return nil
	}
	if err := d.putIndex(ctx, serial, dev); err != nil {
		return fmt.Errorf("index of %s: %w", serial, err)
	}
	dev.Serial = serial
	body, err := json.Marshal(dev)
	if err != nil {
		return err
	}
	_, err = d.devices.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &got.ETag, UpdateMode: aztables.UpdateModeMerge})
	if err != nil {
		return fmt.Errorf("updating device %s: %w", id, err)
	}
	if err := d.dropIndex(ctx, old); err != nil {
		return fmt.Errorf("old index of %s: %w", old, err)
	}
	return nil
}
