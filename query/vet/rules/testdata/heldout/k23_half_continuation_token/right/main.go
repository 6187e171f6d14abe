package api

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type pageOut struct {
	Items         []json.RawMessage
	NextPartition *string `json:",omitempty"`
	NextRow       *string `json:",omitempty"`
}

type Browser struct {
	audits *aztables.Client
}

func param(r *http.Request, name string) *string {
	if v := r.URL.Query().Get(name); v != "" {
		return &v
	}
	return nil
}

// ServeHTTP shows one page of a tenant's audit rows to the administrators.
func (b *Browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tenant, err := uuid.Parse(r.PathValue("tenant"))
	if err != nil {
		http.Error(w, "bad tenant", http.StatusBadRequest)
		return
	}
	pager := b.audits.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter:           to.Ptr("PartitionKey eq '" + tenant.String() + "'"),
		Top:              to.Ptr(int32(50)),
		NextPartitionKey: param(r, "np"),
		NextRowKey:       param(r, "nr"),
	})
	page, err := pager.NextPage(r.Context())
	if err != nil {
		slog.Error("audit page", "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	out := pageOut{Items: make([]json.RawMessage, 0, len(page.Entities))}
	for _, raw := range page.Entities {
		out.Items = append(out.Items, raw)
	}
	out.NextPartition, out.NextRow = page.NextPartitionKey, page.NextRowKey
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		slog.Warn("audit response", "error", err)
	}
}
