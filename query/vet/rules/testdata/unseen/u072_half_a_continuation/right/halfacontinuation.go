package right

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type pageToken struct {
	PK string `json:"p,omitempty"`
	RK string `json:"r,omitempty"`
}

func encode(r aztables.ListEntitiesResponse) string {
	var t pageToken
	if r.NextPartitionKey == nil {
		return ""
	}
	t.PK = *r.NextPartitionKey
	if r.NextRowKey != nil {
		t.RK = *r.NextRowKey
	}
	b, _ := json.Marshal(t)
	return base64.URLEncoding.EncodeToString(b)
}

func decode(s string) (*pageToken, error) {
	b, err := base64.URLEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	t := &pageToken{}
	return t, json.Unmarshal(b, t)
}

// Page returns one page of assets and the token of the next one.
func Page(ctx context.Context, c *aztables.Client, token string) ([][]byte, string, error) {
	opt := &aztables.ListEntitiesOptions{Top: to.Ptr[int32](50)}
	if token != "" {
		t, err := decode(token)
		if err != nil {
			return nil, "", fmt.Errorf("bad token: %w", err)
		}
		if t.PK != "" {
			opt.NextPartitionKey = &t.PK
		}
		if t.RK != "" {
			opt.NextRowKey = &t.RK
		}
	}
	resp, err := c.NewListEntitiesPager(opt).NextPage(ctx)
	if err != nil {
		return nil, "", err
	}
	return resp.Entities, encode(resp), nil
}
