package subscriptions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Subscription struct {
	PartitionKey string
	RowKey       string
	Plan         string
	Active       bool
}

type Lister interface {
	ActiveFor(ctx context.Context, account uuid.UUID) ([]Subscription, error)
}

type tableLister struct {
	client *aztables.Client
}

func NewLister(client *aztables.Client) Lister {
	return &tableLister{client: client}
}

func (l *tableLister) ActiveFor(ctx context.Context, account uuid.UUID) ([]Subscription, error) {
	options := &aztables.ListEntitiesOptions{
		Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s' and Active eq 'true'", account)), // MISTAKE: Active is a boolean property, but the filter compares it with the string 'true' and finds nothing.
	}
	var subs []Subscription
	pager := l.client.NewListEntitiesPager(options)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("subscriptions of %s: %w", account, err)
		}
		for _, raw := range page.Entities {
			var s Subscription
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, fmt.Errorf("decoding subscription: %w", err)
			}
			subs = append(subs, s)
		}
	}
	return subs, nil
}
