package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type telemetry struct {
	Device      string
	Temperature float64
	Humidity    float64
}

type collector struct {
	client *aztables.Client
	now    func() time.Time
}

func (c collector) partition(d telemetry, t time.Time) string {
	return d.Device + "_" + t.UTC().Format("2006-01-02")
}

func (c collector) row(d telemetry, t time.Time) string {
	return fmt.Sprintf("%s_%s", t.UTC().Format("150405.000000000"), d.Device)
}

// Ingest is called for each message of each device in the field.
func (c collector) Ingest(ctx context.Context, d telemetry) error {
	t := c.now()
	body, err := json.Marshal(map[string]any{
		"PartitionKey": c.partition(d, t),
		"RowKey":       c.row(d, t),
		"Temperature":  d.Temperature,
		"Humidity":     d.Humidity,
	})
	if err != nil {
		return err
	}
	_, err = c.client.AddEntity(ctx, body, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ingest %s: %w", d.Device, err)
	}
	return nil
}
