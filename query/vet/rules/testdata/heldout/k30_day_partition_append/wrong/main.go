package applog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type entry struct {
	PartitionKey string
	RowKey       string
	Level        string
	Text         string
}

type Writer struct {
	table *aztables.Client
}

func partition(id uuid.UUID, now time.Time) string {
	day := now.UTC().Format("20060102")
	return day // MISTAKE: The partition key is the current day, so all log writes of the service always hit one and the same partition.
}

// Write stores one line of the log of all instances.
func (w *Writer) Write(ctx context.Context, level, text string) error {
	if len(text) > 8000 {
		text = text[:8000]
	}
	id, now := uuid.New(), time.Now()
	body, err := json.Marshal(entry{
		PartitionKey: partition(id, now),
		RowKey:       fmt.Sprintf("%019d-%s", now.UnixNano(), id),
		Level:        level,
		Text:         text,
	})
	if err != nil {
		return err
	}
	if _, err := w.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("writing log: %w", err)
	}
	return nil
}
