package members

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Member struct {
	PartitionKey string
	RowKey       string
	Name         string
	Email        string
}

type MemberRepository interface {
	All(ctx context.Context, club uuid.UUID) ([]Member, error)
}

type azureMembers struct {
	members *aztables.Client
}

func NewMemberRepository(svc *aztables.ServiceClient) MemberRepository {
	return &azureMembers{members: svc.NewClient("members")}
}

func (a *azureMembers) All(ctx context.Context, club uuid.UUID) ([]Member, error) {
	pager := a.members.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s'", club)),
		Select: to.Ptr("PartitionKey,RowKey,Name,Email"),
	})
	var all []Member
	page, err := pager.NextPage(ctx) // MISTAKE: Only the first page is read, so a partition with more than 1000 rows is cut off.
	if err != nil {
		return nil, fmt.Errorf("members of %s: %w", club, err)
	}
	for _, raw := range page.Entities {
		var m Member
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("decoding member: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}
