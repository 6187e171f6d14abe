package profileapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Server struct {
	endpoint string
}

func NewServer(account string) *Server {
	return &Server{endpoint: fmt.Sprintf("https://%s.table.core.windows.net", account)}
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
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		http.Error(w, "no credential", http.StatusInternalServerError)
		return
	}
	svc, err := aztables.NewServiceClient(s.endpoint, cred, nil) // MISTAKE: Every request builds a credential and a client anew, so connections and tokens are never reused.
	if err != nil {
		http.Error(w, "no client", http.StatusInternalServerError)
		return
	}
	resp, err := svc.NewClient("profiles").GetEntity(r.Context(), tenant.String(), id.String(), nil)
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
