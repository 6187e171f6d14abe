package right

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type patient struct {
	PartitionKey, RowKey string
	Surname, GivenName   string
}

type registry struct {
	table *aztables.Client
}

func (r *registry) searchHandler(w http.ResponseWriter, req *http.Request) {
	surname := strings.TrimSpace(req.URL.Query().Get("surname"))
	if surname == "" {
		http.Error(w, "surname missing", http.StatusBadRequest)
		return
	}
	filter := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(surname, "'", "''"))
	hits := []patient{}
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(req.Context())
		if err != nil {
			http.Error(w, "lookup failed", http.StatusBadGateway)
			return
		}
		for _, raw := range page.Entities {
			var p patient
			if err := json.Unmarshal(raw, &p); err != nil {
				http.Error(w, "bad row", http.StatusInternalServerError)
				return
			}
			hits = append(hits, p)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(hits)
}
