package grants

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Grant struct {
	PartitionKey string
	RowKey       string
	Role         string
}

// Group and user names are 3 to 40 letters, digits, dots and underscores.
func grantKey(group, user string) string {
	return group + "_" + user // MISTAKE: "a_b"+"c" and "a"+"b_c" give the same key, so one grant stands for another
}

type Grants struct {
	table  *aztables.Client
	tenant string
}

func (g *Grants) Set(ctx context.Context, group, user, role string) error {
	raw, err := json.Marshal(Grant{PartitionKey: g.tenant, RowKey: grantKey(group, user), Role: role})
	if err != nil {
		return err
	}
	_, err = g.table.UpsertEntity(ctx, raw, nil)
	return err
}

func (g *Grants) Role(ctx context.Context, group, user string) (string, error) {
	resp, err := g.table.GetEntity(ctx, g.tenant, grantKey(group, user), nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return "", nil
		}
		return "", err
	}
	var gr Grant
	if err := json.Unmarshal(resp.Value, &gr); err != nil {
		return "", err
	}
	return gr.Role, nil
}
