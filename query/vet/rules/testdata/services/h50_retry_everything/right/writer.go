package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sample struct {
	PartitionKey string
	RowKey       string
	Value        int32
}

var pauses = []time.Duration{2 * time.Second, 4 * time.Second, 10 * time.Second, 30 * time.Second}

func lasting(err error) bool {
	var re *azcore.ResponseError
	if !errors.As(err, &re) {
		return errors.Is(err, context.Canceled)
	}
	return re.StatusCode < 500 && re.StatusCode != http.StatusRequestTimeout && re.StatusCode != http.StatusTooManyRequests
}

// Write stores a sample, also through an outage of some seconds.
func Write(ctx context.Context, table *aztables.Client, s Sample) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		_, err := table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
		if err == nil {
			return nil
		}
		if lasting(err) || i == len(pauses) {
			return fmt.Errorf("write sample %s/%s: %w", s.PartitionKey, s.RowKey, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauses[i]):
		}
	}
}
