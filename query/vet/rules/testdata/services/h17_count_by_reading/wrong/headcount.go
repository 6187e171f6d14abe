package headcount

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Server struct {
	staff *aztables.Client
}

func (s *Server) count(ctx context.Context, dept string) (int, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(dept, "'", "''") + "'"
	n := 0
	pager := s.staff.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(page.Entities) // MISTAKE: every request transfers all employees only to count them
	}
	return n, nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dept := r.PathValue("department")
	if dept == "" {
		http.NotFound(w, r)
		return
	}
	n, err := s.count(r.Context(), dept)
	if err != nil {
		http.Error(w, fmt.Sprintf("cannot count %s", dept), http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int{"employees": n})
}
