package retry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Do runs op until it succeeds, at most five times.
func Do(ctx context.Context, op func(context.Context) error) error {
	wait := time.Second
	for attempt := 1; ; attempt++ {
		err := op(ctx)
		if err == nil || attempt == 5 || permanent(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
}

func permanent(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode < 500 &&
		re.StatusCode != http.StatusRequestTimeout && re.StatusCode != http.StatusTooManyRequests
}

// Rates writes through a client that was built without retries of its own.
type Rates struct{ table *aztables.Client }

// Publish stores the exchange rate of a currency pair.
func (r *Rates) Publish(ctx context.Context, pair uuid.UUID, rate float64) error {
	body, err := json.Marshal(map[string]any{"PartitionKey": pair.String(), "RowKey": "current", "Rate": rate})
	if err != nil {
		return err
	}
	return Do(ctx, func(ctx context.Context) error {
		_, err := r.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
		if err != nil {
			return fmt.Errorf("publishing rate: %w", err)
		}
		return nil
	})
}
