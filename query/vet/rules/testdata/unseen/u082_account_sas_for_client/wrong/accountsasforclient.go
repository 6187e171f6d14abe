package wrong

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type TokenService struct {
	svc *aztables.ServiceClient
}

type grant struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Upload grants a device the right to append to the measurements table.
func (t *TokenService) Upload(device string) (*grant, error) {
	if device == "" {
		return nil, errors.New("device missing")
	}
	start := time.Now().UTC().Add(-10 * time.Minute)
	end := start.Add(time.Hour)
	u, err := t.svc.GetAccountSASURL( // MISTAKE: all tables of the account with all rights, where adding to one would do
		aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true},
		aztables.AccountSASPermissions{Read: true, Write: true, Delete: true, List: true, Add: true, Update: true},
		start, end)
	if err != nil {
		return nil, fmt.Errorf("grant for %s: %w", device, err)
	}
	return &grant{URL: u, Expires: end}, nil
}

func (t *TokenService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g, err := t.Upload(r.Header.Get("X-Device"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(g)
}
