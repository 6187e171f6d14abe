package sessions2

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

type Reaper struct {
	sessions *aztables.Client
	now      func() time.Time
}

// Reap ends a session that has expired. Users prolong their sessions at any time.
func (r *Reaper) Reap(ctx context.Context, user, id string) error {
	resp, err := r.sessions.GetEntity(ctx, user, id, nil)
	if err != nil {
		return err
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(resp.Value, &e); err != nil {
		return err
	}
	until, ok := e.Properties["Until"].(aztables.EDMDateTime)
	if !ok {
		return fmt.Errorf("session %s has no end", id)
	}
	if r.now().Before(time.Time(until)) {
		return nil
	}
	_, err = r.sessions.DeleteEntity(ctx, user, id, &aztables.DeleteEntityOptions{IfMatch: &resp.ETag})
	var re *azcore.ResponseError
	if errors.As(err, &re) && (re.StatusCode == http.StatusNotFound || re.StatusCode == http.StatusPreconditionFailed) {
		return nil
	}
	return err
}
