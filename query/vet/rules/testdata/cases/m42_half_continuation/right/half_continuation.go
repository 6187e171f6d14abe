package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Page struct {
	Rows []json.RawMessage `json:"rows"`
	PK   string            `json:"nextPk,omitempty"`
	RK   string            `json:"nextRk,omitempty"`
}

type Lister struct {
	t *aztables.Client
}

func ptr(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Page returns one page of a tenant's rows, from where the last one ended.
func (l *Lister) Page(ctx context.Context, tenant, pk, rk string) (*Page, error) {
	f := "PartitionKey eq '" + strings.ReplaceAll(tenant, "'", "''") + "'"
	pager := l.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter:           &f,
		Top:              to.Ptr(int32(100)),
		NextPartitionKey: ptr(pk),
		NextRowKey:       ptr(rk),
	})
	resp, err := pager.NextPage(ctx)
	if err != nil {
		return nil, fmt.Errorf("page of %s: %w", tenant, err)
	}
	out := &Page{Rows: make([]json.RawMessage, 0, len(resp.Entities))}
	for _, raw := range resp.Entities {
		out.Rows = append(out.Rows, raw)
	}
	if resp.NextPartitionKey != nil {
		out.PK = *resp.NextPartitionKey
	}
	if resp.NextRowKey != nil {
		out.RK = *resp.NextRowKey
	}
	return out, nil
}
