package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Mutator func(e *aztables.EDMEntity) error

// Swap applies fn to one row and stores the result.
func Swap(ctx context.Context, tbl *aztables.Client, pk, rk string, fn Mutator) error {
	const tries = 4
	var last error
	cur, err := tbl.GetEntity(ctx, pk, rk, nil) // MISTAKE: read once before the loop, the retries use its ETag
	if err != nil {
		return err
	}
	for i := range tries {
		var e aztables.EDMEntity
		if err := json.Unmarshal(cur.Value, &e); err != nil {
			return err
		}
		if err := fn(&e); err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, last = tbl.UpdateEntity(ctx, data, &aztables.UpdateEntityOptions{
			IfMatch:    &cur.ETag,
			UpdateMode: aztables.UpdateModeReplace,
		}); last == nil {
			return nil
		}
		var re *azcore.ResponseError
		if !errors.As(last, &re) || re.ErrorCode != string(aztables.UpdateConditionNotSatisfied) {
			return last
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(i+1) * 40 * time.Millisecond):
		}
	}
	return fmt.Errorf("swap %s/%s: %w", pk, rk, last)
}
