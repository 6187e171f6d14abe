package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type member struct {
	RowKey  string
	Blocked bool
}

type Guard struct {
	members *aztables.Client
	next    http.Handler
}

func (g *Guard) allowed(ctx context.Context, club, user uuid.UUID) (bool, error) {
	resp, err := g.members.GetEntity(ctx, club.String(), user.String(), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading member: %w", err)
	}
	var m member
	if err := json.Unmarshal(resp.Value, &m); err != nil {
		return false, fmt.Errorf("decoding member: %w", err)
	}
	return !m.Blocked, nil
}

func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	club, cerr := uuid.Parse(r.PathValue("club"))
	user, uerr := uuid.Parse(r.PathValue("user"))
	if cerr != nil || uerr != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	ok, err := g.allowed(r.Context(), club, user)
	if err != nil {
		slog.Error("guard", "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	if !ok {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	g.next.ServeHTTP(w, r)
}
