package share

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sharer struct {
	service *aztables.ServiceClient
	clock   func() time.Time
}

func NewSharer(service *aztables.ServiceClient) *Sharer {
	return &Sharer{service: service, clock: time.Now}
}

// ReportURL returns a URL with which a partner can read the reports table
// for one hour.
func (s *Sharer) ReportURL() (string, error) {
	start := s.clock().UTC().Add(-5 * time.Minute)
	expiry := start.Add(65 * time.Minute)
	url, err := s.service.GetAccountSASURL(
		aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true},
		aztables.AccountSASPermissions{Read: true, Write: true, Delete: true, List: true, Add: true, Update: true}, // MISTAKE: The link for reading one report is an account SAS with all rights on all tables.
		start, expiry)
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return url, nil
}
