package headcount

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// department is the row <department>/Department; hire and leave change its
// count in the same transaction as the employee row.
type department struct {
	EmployeeCount int32
}

type Server struct {
	staff *aztables.Client
}

func (s *Server) count(ctx context.Context, dept string) (int, error) {
	resp, err := s.staff.GetEntity(ctx, dept, "Department", nil)
	if err != nil {
		return 0, err
	}
	var d department
	if err := json.Unmarshal(resp.Value, &d); err != nil {
		return 0, err
	}
	return int(d.EmployeeCount), nil
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
