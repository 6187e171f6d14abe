package right

import (
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sharer struct {
	client *aztables.Client
	valid  time.Duration
}

func NewSharer(account, key, table string, valid time.Duration) (*Sharer, error) {
	cred, err := aztables.NewSharedKeyCredential(account, key)
	if err != nil {
		return nil, err
	}
	c, err := aztables.NewClientWithSharedKey(fmt.Sprintf("https://%s.table.core.windows.net/%s", account, table), cred, nil)
	if err != nil {
		return nil, err
	}
	return &Sharer{client: c, valid: valid}, nil
}

// ReadLink returns a URL that lets a partner read the table for a while.
func (s *Sharer) ReadLink() (string, error) {
	now := time.Now().UTC()
	perms := aztables.SASPermissions{Read: true}
	link, err := s.client.GetTableSASURL(perms, now.Add(-5*time.Minute), now.Add(s.valid))
	if err != nil {
		return "", fmt.Errorf("sign link: %w", err)
	}
	return link, nil
}

func (s *Sharer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	link, err := s.ReadLink()
	if err != nil {
		http.Error(w, "cannot share", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintln(w, link)
}
