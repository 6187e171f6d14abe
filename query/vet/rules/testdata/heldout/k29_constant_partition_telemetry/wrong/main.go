package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Measurement struct {
	Device  uuid.UUID
	At      time.Time
	Celsius float64
}

type Sink struct {
	table *aztables.Client
	in    <-chan Measurement
}

func NewSink(table *aztables.Client, in <-chan Measurement) *Sink {
	return &Sink{table: table, in: in}
}

// Run stores measurements until the channel is closed or ctx ends.
func (s *Sink) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, ok := <-s.in:
			if !ok {
				return nil
			}
			if err := s.store(ctx, m); err != nil {
				return err
			}
		}
	}
}

func (s *Sink) store(ctx context.Context, m Measurement) error {
	entity := aztables.EDMEntity{
		Entity: aztables.Entity{
			PartitionKey: "measurements", // MISTAKE: Every measurement of every device goes into one constant partition, which becomes the bottleneck of the table.
			RowKey:       fmt.Sprintf("%020d-%s", m.At.UnixNano(), m.Device),
		},
		Properties: map[string]any{"Celsius": m.Celsius, "At": aztables.EDMDateTime(m.At.UTC())},
	}
	body, err := json.Marshal(entity)
	if err != nil {
		return err
	}
	if _, err := s.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("measurement of %s: %w", m.Device, err)
	}
	return nil
}
