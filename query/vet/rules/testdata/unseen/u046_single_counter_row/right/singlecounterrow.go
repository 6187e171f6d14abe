package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Views struct {
	c     *aztables.Client
	slots []string
}

type counter struct {
	PartitionKey, RowKey string
	N                    int32
}

func NewViews(c *aztables.Client) *Views {
	v := &Views{c: c}
	for i := range 32 {
		v.slots = append(v.slots, fmt.Sprintf("total-%02d", i))
	}
	return v
}

// Hit counts one view of the site.
func (v *Views) Hit(ctx context.Context) error {
	row := v.slots[rand.IntN(len(v.slots))]
	for try := 0; try < 6; try++ {
		resp, err := v.c.GetEntity(ctx, row, "views", nil)
		if err != nil {
			return err
		}
		var n counter
		if err := json.Unmarshal(resp.Value, &n); err != nil {
			return err
		}
		n.N++
		b, err := json.Marshal(n)
		if err != nil {
			return err
		}
		_, err = v.c.UpdateEntity(ctx, b, &aztables.UpdateEntityOptions{IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeMerge})
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
			time.Sleep(rand.N(20 * time.Millisecond))
			continue
		}
		return err
	}
	return errors.New("view not counted")
}

// Setup makes the counter rows.
func (v *Views) Setup(ctx context.Context) error {
	for _, slot := range v.slots {
		b, err := json.Marshal(counter{PartitionKey: slot, RowKey: "views"})
		if err != nil {
			return err
		}
		_, err = v.c.AddEntity(ctx, b, nil)
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) {
			continue
		}
		if err != nil {
			return fmt.Errorf("counter %s: %w", slot, err)
		}
	}
	return nil
}
