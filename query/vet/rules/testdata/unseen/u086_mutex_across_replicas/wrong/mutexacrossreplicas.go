package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Numbers struct {
	mu  sync.Mutex
	tbl *aztables.Client
}

type numberRow struct {
	aztables.Entity
	Last int32
}

// Next draws the next number of a branch; the service runs in several replicas.
func (n *Numbers) Next(ctx context.Context, branch string) (int32, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	resp, err := n.tbl.GetEntity(ctx, branch, "number", nil)
	if err != nil {
		return 0, err
	}
	var row numberRow
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return 0, err
	}
	row.Last++
	raw, err := json.Marshal(row)
	if err != nil {
		return 0, err
	}
	_, err = n.tbl.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{ // MISTAKE: the mutex does not stop the other replicas
		UpdateMode: aztables.UpdateModeReplace,
	})
	if err != nil {
		return 0, fmt.Errorf("number of %s: %w", branch, err)
	}
	return row.Last, nil
}

func (n *Numbers) Handle(w http.ResponseWriter, r *http.Request) {
	num, err := n.Next(r.Context(), r.PathValue("branch"))
	if err != nil {
		http.Error(w, "please try again", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "%d\n", num)
}
