package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sessions struct{ t *aztables.Client }

// Open stores a session; Device is an Edm.Guid.
func (s *Sessions) Open(ctx context.Context, user, id string, device aztables.EDMGUID) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: user, RowKey: id},
		Properties: map[string]any{"Device": device},
	})
	if err != nil {
		return err
	}
	_, err = s.t.AddEntity(ctx, body, nil)
	return err
}

// OfDevice returns the sessions of one device of a user.
func (s *Sessions) OfDevice(ctx context.Context, user string, device aztables.EDMGUID) ([]string, error) {
	id, err := device.MarshalText()
	if err != nil {
		return nil, err
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "PartitionKey eq '%s'", strings.ReplaceAll(user, "'", "''"))
	fmt.Fprintf(&sb, " and Device eq guid'%s'", id)
	pager := s.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(sb.String())})
	var ids []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.Entity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			ids = append(ids, e.RowKey)
		}
	}
	return ids, nil
}
