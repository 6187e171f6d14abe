package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Step struct {
	aztables.Entity
	Phase  string
	Result string
}

func save(ctx context.Context, c *aztables.Client, s Step, tag azcore.ETag) (azcore.ETag, error) {
	blob, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	r, err := c.UpdateEntity(ctx, blob, &aztables.UpdateEntityOptions{IfMatch: to.Ptr(tag), UpdateMode: aztables.UpdateModeMerge})
	return r.ETag, err
}

// Execute marks the step as started, runs it and stores the outcome.
func Execute(ctx context.Context, c *aztables.Client, flow, id string, work func(context.Context) (string, error)) error {
	got, err := c.GetEntity(ctx, flow, id, nil)
	if err != nil {
		return err
	}
	var st Step
	if err := json.Unmarshal(got.Value, &st); err != nil {
		return err
	}
	st.Phase = "started"
	if _, err := save(ctx, c, st, got.ETag); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	out, err := work(ctx)
	if err != nil {
		return fmt.Errorf("work: %w", err)
	}
	st.Phase, st.Result = "done", out
	if _, err := save(ctx, c, st, got.ETag); err != nil { // MISTAKE: this ETag is from before the first save
		return fmt.Errorf("finish: %w", err)
	}
	return nil
}
