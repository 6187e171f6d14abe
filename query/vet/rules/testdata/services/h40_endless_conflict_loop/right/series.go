package series

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Day struct {
	PartitionKey string
	RowKey       string
	Messages     int32
}

func conflict(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.ErrorCode == string(aztables.UpdateConditionNotSatisfied)
}

func bump(ctx context.Context, t *aztables.Client, dept, day string) error {
	resp, err := t.GetEntity(ctx, dept, day, nil)
	if err != nil {
		return err
	}
	var d Day
	if err := json.Unmarshal(resp.Value, &d); err != nil {
		return err
	}
	d.Messages++
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = t.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{
		IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeMerge,
	})
	return err
}

// Count adds one message to the day of a department.
func Count(ctx context.Context, t *aztables.Client, dept, day string) error {
	var err error
	for try := 1; try <= 6; try++ {
		if err = bump(ctx, t, dept, day); !conflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(20+rand.IntN(50*try)) * time.Millisecond):
		}
	}
	return err
}
