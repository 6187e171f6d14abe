package wrong

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Partners struct {
	tbl *aztables.Client
}

// Admit adds a stored access policy for a partner.
func (p *Partners) Admit(ctx context.Context, partner string, days int) error {
	now := time.Now().UTC()
	id := &aztables.SignedIdentifier{
		ID: to.Ptr(partner),
		AccessPolicy: &aztables.AccessPolicy{
			Start:      to.Ptr(now.Add(-15 * time.Minute)),
			Expiry:     to.Ptr(now.AddDate(0, 0, days)),
			Permission: to.Ptr("r"),
		},
	}
	_, err := p.tbl.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: []*aztables.SignedIdentifier{id}}) // MISTAKE: drops the policies of the other partners
	if err != nil {
		return fmt.Errorf("admit %s: %w", partner, err)
	}
	return nil
}

// Names lists the partners that have a policy.
func (p *Partners) Names(ctx context.Context) ([]string, error) {
	r, err := p.tbl.GetAccessPolicy(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range r.SignedIdentifiers {
		if s.ID != nil {
			names = append(names, *s.ID)
		}
	}
	return names, nil
}
