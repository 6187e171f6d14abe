package profileapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Server struct {
	profiles *aztables.Client
}

func NewServer(account string, cred azcore.TokenCredential) (*Server, error) {
	svc, err := aztables.NewServiceClient(fmt.Sprintf("https://%s.table.core.windows.net", account), cred, nil)
	if err != nil {
		return nil, fmt.Errorf("table client: %w", err)
	}
	return &Server{profiles: svc.NewClient("profiles")}, nil
}

func (s *Server) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tenants/{tenant}/profiles/{id}", s.profile)
	return mux
}

func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	tenant, terr := uuid.Parse(r.PathValue("tenant"))
	id, ierr := uuid.Parse(r.PathValue("id"))
	if terr != nil || ierr != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	resp, err := s.profiles.GetEntity(r.Context(), tenant.String(), id.String(), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		slog.Error("profile", "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(resp.Value); err != nil {
		slog.Warn("profile response", "error", err)
	}
}
