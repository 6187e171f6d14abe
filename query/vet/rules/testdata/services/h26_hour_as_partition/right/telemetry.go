package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Thousands of meters send a value every second.
type Event struct {
	Meter string
	ID    string
	At    time.Time
	Value int32
}

type entity struct {
	PartitionKey string
	RowKey       string
	Value        int32
}

const hour = "2006010215"

func toEntity(e Event) entity {
	at := e.At.UTC()
	return entity{
		PartitionKey: e.Meter,
		RowKey:       at.Format(hour) + "_" + e.ID,
		Value:        e.Value,
	}
}

type Writer struct {
	table *aztables.Client
	late  func(Event)
}

func (w *Writer) Write(ctx context.Context, e Event) error {
	if time.Since(e.At) > 24*time.Hour && w.late != nil {
		w.late(e)
	}
	raw, err := json.Marshal(toEntity(e))
	if err != nil {
		return err
	}
	_, err = w.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
