package changelog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const top = 1_000_000

// Rows are to be listed with the newest version first.
func versionKey(n int) (string, error) {
	if n < 0 || n > top {
		return "", fmt.Errorf("version out of range: %d", n)
	}
	return fmt.Sprintf("v%07d", top-n), nil
}

type Changes struct{ t *aztables.Client }

func (c *Changes) Add(ctx context.Context, product string, version int, text string) error {
	rk, err := versionKey(version)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"PartitionKey": product,
		"RowKey":       rk,
		"Version":      int32(version),
		"Text":         text,
	})
	if err != nil {
		return err
	}
	_, err = c.t.AddEntity(ctx, body, nil)
	return err
}

// Newest returns the newest entry, nil if there is none.
func (c *Changes) Newest(ctx context.Context, product string) ([]byte, error) {
	f := "PartitionKey eq '" + strings.ReplaceAll(product, "'", "''") + "'"
	pager := c.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Top: to.Ptr(int32(1))})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		if len(page.Entities) > 0 {
			return page.Entities[0], nil
		}
	}
	return nil, nil
}
