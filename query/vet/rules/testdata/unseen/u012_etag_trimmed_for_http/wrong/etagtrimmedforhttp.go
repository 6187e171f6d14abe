package wrong

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type articleDTO struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Version string `json:"version"`
}

type Articles struct{ tbl *aztables.Client }

func (a *Articles) Get(ctx context.Context, blog, slug string) (articleDTO, error) {
	var out articleDTO
	r, err := a.tbl.GetEntity(ctx, blog, slug, nil)
	if err != nil {
		return out, err
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(r.Value, &e); err != nil {
		return out, err
	}
	out.Title, _ = e.Properties["Title"].(string)
	out.Text, _ = e.Properties["Text"].(string)
	out.Version = strings.Trim(string(r.ETag), `W/"`) // MISTAKE: the stripped value is no valid ETag for Put
	return out, nil
}

func (a *Articles) Put(ctx context.Context, blog, slug string, in articleDTO) (string, error) {
	e := aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: blog, RowKey: slug}, Properties: map[string]any{
		"Title": in.Title,
		"Text":  in.Text,
	}}
	raw, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	tag := azcore.ETag(in.Version)
	res, err := a.tbl.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &tag, UpdateMode: aztables.UpdateModeMerge})
	if err != nil {
		return "", err
	}
	return string(res.ETag), nil
}
