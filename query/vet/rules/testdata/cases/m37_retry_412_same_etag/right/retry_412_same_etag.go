package counters

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Counter struct {
	aztables.Entity
	N int32
}

type Box struct{ c *aztables.Client }

func pause(ctx context.Context, try int) error {
	t := time.NewTimer(time.Duration(10+rand.IntN(40<<try)) * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Inc adds one.
func (b *Box) Inc(ctx context.Context, group, name string) error {
	for try := range 5 {
		got, err := b.c.GetEntity(ctx, group, name, nil)
		if err != nil {
			return err
		}
		var cur Counter
		if err := json.Unmarshal(got.Value, &cur); err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"PartitionKey": group, "RowKey": name, "N": cur.N + 1})
		if err != nil {
			return err
		}
		_, err = b.c.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &got.ETag, UpdateMode: aztables.UpdateModeMerge})
		var re *azcore.ResponseError
		if !errors.As(err, &re) || re.StatusCode != http.StatusPreconditionFailed {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return errors.New("counter is busy")
}
