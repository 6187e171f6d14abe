package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Record struct {
	Node string
	Seq  uint64
	Text string
}

type Writer struct {
	c   *aztables.Client
	now func() time.Time
}

// Write is called some thousand times per second by all nodes together; reads ask for one node and hour.
func (w *Writer) Write(ctx context.Context, r Record) error {
	t := w.now().UTC()
	body, err := json.Marshal(map[string]any{
		"PartitionKey": r.Node + "_" + t.Format("20060102"),
		"RowKey":       fmt.Sprintf("%s_%020d", t.Format("15"), r.Seq),
		"Text":         r.Text,
	})
	if err != nil {
		return err
	}
	if _, err := w.c.AddEntity(ctx, body, nil); err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) {
			return nil // a repeat of the node, the sequence number is unique
		}
		return fmt.Errorf("node %s: %w", r.Node, err)
	}
	return nil
}
