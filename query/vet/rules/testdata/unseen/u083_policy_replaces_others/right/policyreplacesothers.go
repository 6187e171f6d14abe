package right

import (
	"context"
	"fmt"
	"slices"
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
	cur, err := p.tbl.GetAccessPolicy(ctx, nil)
	if err != nil {
		return fmt.Errorf("read policies: %w", err)
	}
	acl := slices.DeleteFunc(cur.SignedIdentifiers, func(s *aztables.SignedIdentifier) bool {
		return s.ID != nil && *s.ID == partner
	})
	_, err = p.tbl.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: append(acl, id)})
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
