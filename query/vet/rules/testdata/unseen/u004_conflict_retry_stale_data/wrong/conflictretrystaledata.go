package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type stockLevel struct {
	PartitionKey string
	RowKey       string
	OnHand       int32
	Reserved     int32
}

func conflict(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == 412
}

func load(ctx context.Context, c *aztables.Client, wh, sku string) (stockLevel, azcore.ETag, error) {
	var lvl stockLevel
	r, err := c.GetEntity(ctx, wh, sku, nil)
	if err != nil {
		return lvl, "", err
	}
	err = json.Unmarshal(r.Value, &lvl)
	return lvl, r.ETag, err
}

func Reserve(ctx context.Context, c *aztables.Client, wh, sku string, n int32) error {
	lvl, tag, err := load(ctx, c, wh, sku)
	if err != nil {
		return err
	}
	for attempt := 0; attempt < 5; attempt++ {
		next := lvl
		next.Reserved += n
		if next.Reserved > next.OnHand {
			return fmt.Errorf("%s/%s: not enough stock", wh, sku)
		}
		b, err := json.Marshal(next)
		if err != nil {
			return err
		}
		_, err = c.UpdateEntity(ctx, b, &aztables.UpdateEntityOptions{IfMatch: &tag, UpdateMode: aztables.UpdateModeReplace})
		if !conflict(err) {
			return err
		}
		if _, tag, err = load(ctx, c, wh, sku); err != nil { // MISTAKE: takes the new ETag but keeps the old numbers
			return err
		}
	}
	return errors.New("too many conflicts")
}
