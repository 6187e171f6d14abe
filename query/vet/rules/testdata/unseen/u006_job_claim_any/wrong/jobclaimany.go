package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type job struct {
	PartitionKey string
	RowKey       string
	State        string
	Owner        string
	ETag         azcore.ETag `json:"odata.etag,omitempty"`
}

type claimer struct {
	jobs *aztables.Client
	host string
}

func (cl *claimer) claim(ctx context.Context, j job) (bool, error) {
	patch, err := json.Marshal(map[string]any{
		"PartitionKey": j.PartitionKey,
		"RowKey":       j.RowKey,
		"State":        "running",
		"Owner":        cl.host,
	})
	if err != nil {
		return false, err
	}
	cond := azcore.ETagAny // MISTAKE: matches a job that another worker has just claimed
	_, err = cl.jobs.UpdateEntity(ctx, patch, &aztables.UpdateEntityOptions{IfMatch: &cond, UpdateMode: aztables.UpdateModeMerge})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	return err == nil, err
}

func (cl *claimer) next(ctx context.Context, shard string) (*job, error) {
	f := fmt.Sprintf("PartitionKey eq '%s' and State eq 'queued'", strings.ReplaceAll(shard, "'", "''"))
	for p := cl.jobs.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f}); p.More(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var j job
			if err := json.Unmarshal(raw, &j); err != nil {
				return nil, err
			}
			if ok, err := cl.claim(ctx, j); err != nil || ok {
				return &j, err
			}
		}
	}
	return nil, nil
}
