package counter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Counter struct {
	PartitionKey string
	RowKey       string
	Likes        int32
}

type Version = azcore.ETag

var ErrChanged = errors.New("changed by another writer")

type tableRepo struct {
	table *aztables.Client
}

func NewRepository(t *aztables.Client) Repository { return &tableRepo{table: t} }

func (r *tableRepo) Load(ctx context.Context, site, page string) (Counter, Version, error) {
	var c Counter
	resp, err := r.table.GetEntity(ctx, site, page, nil)
	if err != nil {
		return c, "", err
	}
	return c, resp.ETag, json.Unmarshal(resp.Value, &c)
}

func (r *tableRepo) Save(ctx context.Context, c Counter, v Version) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = r.table.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &v, UpdateMode: aztables.UpdateModeReplace})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return ErrChanged
	}
	return err
}
