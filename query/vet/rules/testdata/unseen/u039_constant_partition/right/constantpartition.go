package right

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type LogLine struct {
	Service string
	Level   string
	Text    string
	Time    time.Time
}

type LogSink struct {
	table *aztables.Client
	queue chan LogLine
}

func (s *LogSink) encode(l LogLine) ([]byte, error) {
	return json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{
			PartitionKey: l.Service + "-" + l.Time.UTC().Format("2006010215"),
			RowKey:       l.Time.UTC().Format("20060102150405.000000") + "-" + uuid.NewString(),
		},
		Properties: map[string]any{
			"Level": l.Level,
			"Text":  l.Text,
			"At":    aztables.EDMDateTime(l.Time.UTC()),
		},
	})
}

// Run stores queued lines until the context ends.
func (s *LogSink) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l := <-s.queue:
			b, err := s.encode(l)
			if err != nil {
				return err
			}
			if _, err := s.table.AddEntity(ctx, b, nil); err != nil {
				return fmt.Errorf("store log line: %w", err)
			}
		}
	}
}
