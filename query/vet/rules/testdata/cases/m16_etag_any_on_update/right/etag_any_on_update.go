package profile

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Profile struct {
	aztables.Entity
	Display string
	Bio     string
}

type Editor struct {
	rows *aztables.Client
}

// Edit lets change modify the profile; it fails with a 412 when somebody else saved meanwhile.
func (e *Editor) Edit(ctx context.Context, tenant, user string, change func(*Profile)) error {
	got, err := e.rows.GetEntity(ctx, tenant, user, nil)
	if err != nil {
		return fmt.Errorf("load profile: %w", err)
	}
	var p Profile
	if err := json.Unmarshal(got.Value, &p); err != nil {
		return fmt.Errorf("decode profile: %w", err)
	}
	change(&p)
	body, err := json.Marshal(map[string]any{
		"PartitionKey": tenant,
		"RowKey":       user,
		"Display":      p.Display,
		"Bio":          p.Bio,
	})
	if err != nil {
		return err
	}
	opts := &aztables.UpdateEntityOptions{
		IfMatch:    &got.ETag,
		UpdateMode: aztables.UpdateModeMerge,
	}
	if _, err := e.rows.UpdateEntity(ctx, body, opts); err != nil {
		return fmt.Errorf("save profile: %w", err)
	}
	return nil
}
