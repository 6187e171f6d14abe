package reporting

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Signer struct {
	svc   *aztables.ServiceClient
	table string
}

func New(svc *aztables.ServiceClient, table string) *Signer { return &Signer{svc: svc, table: table} }

// ReportURL returns an address with which the report tool reads one table for an hour.
func (s *Signer) ReportURL(now time.Time) (string, error) {
	from, until := now.UTC().Add(-5*time.Minute), now.UTC().Add(time.Hour)
	u, err := s.svc.GetAccountSASURL(
		aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true},
		aztables.AccountSASPermissions{Read: true, Write: true, Delete: true, List: true, Add: true, Create: true, Update: true}, // MISTAKE: all tables of the account and all rights, for a tool that reads one table
		from, until)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return u, nil
}
