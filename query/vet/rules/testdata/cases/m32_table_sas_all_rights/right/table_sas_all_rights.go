package share

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Issuer struct {
	table *aztables.Client
	life  time.Duration
}

// NewIssuer makes links for partners that only read the catalogue.
func NewIssuer(c *aztables.Client) *Issuer {
	return &Issuer{table: c, life: time.Hour}
}

func (i *Issuer) Link(w http.ResponseWriter, r *http.Request) {
	perm := aztables.SASPermissions{
		Read: true,
	}
	now := time.Now().UTC()
	u, err := i.table.GetTableSASURL(perm, now.Add(-5*time.Minute), now.Add(i.life))
	if err != nil {
		http.Error(w, "no link", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(map[string]string{"url": u}); err != nil {
		return
	}
}
