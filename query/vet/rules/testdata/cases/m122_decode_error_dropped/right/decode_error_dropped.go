package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type limit struct {
	Max  int32
	Used int32
}

type Quotas struct{ c *aztables.Client }

// Left tells how much a user may still use.
func (q *Quotas) Left(ctx context.Context, plan, user string) (int32, error) {
	resp, err := q.c.GetEntity(ctx, plan, user, nil)
	if err != nil {
		return 0, fmt.Errorf("quota of %s: %w", user, err)
	}
	var l limit
	if err := json.Unmarshal(resp.Value, &l); err != nil {
		return 0, fmt.Errorf("quota of %s: %w", user, err)
	}
	return max(l.Max-l.Used, 0), nil
}

// Guard lets only users with a rest pass.
func (q *Quotas) Guard(plan string, user func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := q.Left(r.Context(), plan, user(r))
		switch {
		case err != nil:
			http.Error(w, "quota is unknown", http.StatusBadGateway)
		case n == 0:
			http.Error(w, "quota is used up", http.StatusTooManyRequests)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
