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
	u, err := s.svc.NewClient(s.table).GetTableSASURL(aztables.SASPermissions{Read: true}, from, until)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return u, nil
}
