package tasks

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Task struct {
	RowKey string
	Title  string
	Done   bool
}

type Handler struct {
	Tasks *aztables.Client
}

func (h *Handler) fetch(ctx context.Context, userID string) ([]Task, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(userID, "'", "''") + "'"
	pager := h.Tasks.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	tasks := []Task{}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var t Task
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, err
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user := r.URL.Query().Get("user")
	if user == "" {
		http.Error(w, "user is missing", http.StatusBadRequest)
		return
	}
	tasks, err := h.fetch(r.Context(), user)
	if err != nil {
		http.Error(w, "cannot read the tasks", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(tasks)
}
