package weather

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Handler struct {
	Table   *aztables.Client
	Timeout time.Duration
}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	city := strings.ToLower(r.PathValue("city"))
	if city == "" {
		http.NotFound(w, r)
		return
	}
	resp, err := h.Table.GetEntity(context.Background(), "city", url.QueryEscape(city), nil) // MISTAKE: neither the client's leaving nor a timeout ends the call
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			http.NotFound(w, r)
			return
		}
		http.Error(w, "no data at the moment", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", string(resp.ETag))
	if _, err := w.Write(resp.Value); err != nil {
		return
	}
}
