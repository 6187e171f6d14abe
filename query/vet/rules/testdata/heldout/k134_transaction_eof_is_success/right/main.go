package wal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Record struct {
	Seq  uint32
	Data string
}

type Log struct {
	table *aztables.Client
}

// Append writes at most 100 small records of a segment; it may be repeated.
func (l *Log) Append(ctx context.Context, segment uuid.UUID, records []Record) error {
	if len(records) == 0 || len(records) > 100 {
		return fmt.Errorf("%d records in one append", len(records))
	}
	actions := make([]aztables.TransactionAction, 0, len(records))
	for i, r := range records {
		if i > 0 && r.Seq <= records[i-1].Seq {
			return fmt.Errorf("record %d is out of order", r.Seq)
		}
		if len(r.Data) > 16<<10 {
			return fmt.Errorf("record %d is too large", r.Seq)
		}
		body, err := json.Marshal(map[string]string{
			"PartitionKey": segment.String(),
			"RowKey":       fmt.Sprintf("%010d", r.Seq),
			"Data":         r.Data,
		})
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
	}
	_, err := l.table.SubmitTransaction(ctx, actions, nil)
	if err != nil {
		return fmt.Errorf("appending to %s: %w", segment, err)
	}
	return nil
}
