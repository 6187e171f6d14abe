package shop

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Server struct {
	Orders *aztables.Client
	Log    *slog.Logger
}

func (s *Server) Routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders", s.list)
	return mux
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	customer := r.URL.Query().Get("customer")
	if customer == "" {
		http.Error(w, "customer is missing", http.StatusBadRequest)
		return
	}
	filter := fmt.Sprintf("PartitionKey eq '%s' and Open eq true", strings.ReplaceAll(customer, "'", "''"))
	pager := s.Orders.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	found := []json.RawMessage{}
	for pager.More() {
		page, err := pager.NextPage(r.Context())
		if err != nil {
			s.Log.Error("list orders", "err", err)
			http.Error(w, "storage is not available", http.StatusBadGateway)
			return
		}
		for _, e := range page.Entities {
			found = append(found, e)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(found); err != nil {
		s.Log.Warn("answer", "err", err)
	}
}
