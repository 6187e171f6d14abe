package catalog

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type product struct {
	RowKey   string
	Title    string
	Category string
}

type ProductHandler struct {
	products *aztables.Client
	log      *slog.Logger
}

// Search lists the products of one shop that belong to a category.
func (h *ProductHandler) Search(w http.ResponseWriter, r *http.Request) {
	category := r.URL.Query().Get("category")
	if category == "" {
		http.Error(w, "category is required", http.StatusBadRequest)
		return
	}
	filter := fmt.Sprintf("PartitionKey eq 'shop-eu' and Category eq '%s'", category) // MISTAKE: The category from the query string is put into the filter without doubling quotes, so a caller can change the query.
	pager := h.products.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})

	found := []product{}
	for pager.More() {
		page, err := pager.NextPage(r.Context())
		if err != nil {
			h.log.Error("searching products", "error", err)
			http.Error(w, "search failed", http.StatusBadGateway)
			return
		}
		for _, raw := range page.Entities {
			var p product
			if err := json.Unmarshal(raw, &p); err != nil {
				h.log.Error("decoding product", "error", err)
				http.Error(w, "search failed", http.StatusInternalServerError)
				return
			}
			found = append(found, p)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(found); err != nil {
		h.log.Warn("writing response", "error", err)
	}
}
