package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Search struct{ t *aztables.Client }

type Hit struct {
	RowKey string
	Name   string
}

func literal(s string) string { return strings.ReplaceAll(s, "'", "''") }

// Complete proposes names; row keys are lower-case ASCII names, and only letters may be typed.
func (s *Search) Complete(ctx context.Context, list, typed string) ([]Hit, error) {
	typed = strings.ToLower(typed)
	if typed == "" || strings.Trim(typed, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, errors.New("letters only")
	}
	f := fmt.Sprintf("PartitionKey eq '%s' and startswith(RowKey,'%s')", literal(list), literal(typed)) // MISTAKE: table queries have no functions, the service answers 501
	pager := s.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Top: to.Ptr(int32(10))})
	hits := []Hit{}
	for pager.More() && len(hits) < 10 {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var h Hit
			if err := json.Unmarshal(raw, &h); err != nil {
				return nil, err
			}
			hits = append(hits, h)
		}
	}
	return hits[:min(len(hits), 10)], nil
}
