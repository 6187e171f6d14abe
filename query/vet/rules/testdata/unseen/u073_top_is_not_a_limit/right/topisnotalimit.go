package right

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type recipient struct {
	RowKey string
	Mail   string
}

type Trial struct {
	users *aztables.Client
	mail  func(context.Context, string) error
}

// Invite writes to the first n users of the waiting list.
func (t *Trial) Invite(ctx context.Context, n int32) (int32, error) {
	var done int32
	q := &aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq 'waiting'"),
		Top:    &n,
	}
	p := t.users.NewListEntitiesPager(q)
	for p.More() && done < n {
		page, err := p.NextPage(ctx)
		if err != nil {
			return done, err
		}
		for _, raw := range page.Entities {
			if done == n {
				break
			}
			var u recipient
			if err := json.Unmarshal(raw, &u); err != nil {
				return done, err
			}
			if err := t.mail(ctx, u.Mail); err != nil {
				return done, fmt.Errorf("invite %s: %w", u.RowKey, err)
			}
			if _, err := t.users.DeleteEntity(ctx, "waiting", u.RowKey, nil); err != nil {
				return done, err
			}
			done++
		}
	}
	return done, nil
}
