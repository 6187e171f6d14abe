package statusapi

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type check struct {
	RowKey string
	Up     bool
}

type Status struct {
	checks *aztables.Client
}

// ServeHTTP lists the checks of a project.
func (s *Status) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	project, err := uuid.Parse(r.PathValue("project"))
	if err != nil {
		http.Error(w, "bad project", http.StatusBadRequest)
		return
	}
	checks := []check{}
	pager := s.checks.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq '" + project.String() + "'"),
	})
	for pager.More() {
		page, err := pager.NextPage(r.Context())
		if err != nil {
			slog.Error("listing checks", "project", project, "error", err)
			http.Error(w, "storage error", http.StatusBadGateway)
			return
		}
		for _, raw := range page.Entities {
			var c check
			if err := json.Unmarshal(raw, &c); err != nil {
				slog.Error("decoding check", "project", project, "error", err)
				http.Error(w, "storage error", http.StatusInternalServerError)
				return
			}
			checks = append(checks, c)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(checks); err != nil {
		slog.Warn("status response", "error", err)
	}
}
