package clicks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type click struct {
	PartitionKey string
	RowKey       string
	Target       string
}

type Redirector struct {
	clicks  *aztables.Client
	targets map[uuid.UUID]string
	pending sync.WaitGroup
}

// Drain waits for the rows still being written when the server shuts down.
func (h *Redirector) Drain() { h.pending.Wait() }

func (h *Redirector) record(ctx context.Context, link uuid.UUID, target string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := json.Marshal(click{PartitionKey: link.String(), RowKey: uuid.NewString(), Target: target})
	if err != nil {
		return err
	}
	if _, err := h.clicks.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("recording click on %s: %w", link, err)
	}
	return nil
}

func (h *Redirector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	link, err := uuid.Parse(r.PathValue("link"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	target, ok := h.targets[link]
	if !ok {
		http.NotFound(w, r)
		return
	}
	ctx := context.WithoutCancel(r.Context())
	h.pending.Go(func() {
		if err := h.record(ctx, link, target); err != nil {
			slog.Error("click lost", "error", err)
		}
	})
	http.Redirect(w, r, target, http.StatusFound)
}
