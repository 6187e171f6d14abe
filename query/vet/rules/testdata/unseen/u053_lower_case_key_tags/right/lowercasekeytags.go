package right

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Translation struct {
	PartitionKey string `json:"PartitionKey"`
	RowKey       string `json:"RowKey"`
	Text         string `json:"text"`
	Reviewed     bool   `json:"reviewed"`
}

type Dictionary struct {
	table *aztables.Client
}

func NewDictionary(conn string) (*Dictionary, error) {
	svc, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Dictionary{table: svc.NewClient("translations")}, nil
}

func (d *Dictionary) Put(ctx context.Context, lang, key, text string) error {
	t := Translation{
		PartitionKey: lang,
		RowKey:       key,
		Text:         text,
	}
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := d.table.UpsertEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("put %s/%s: %w", lang, key, err)
	}
	return nil
}

func (d *Dictionary) Load(ctx context.Context, lang string, texts map[string]string) error {
	for k, v := range texts {
		if err := d.Put(ctx, lang, k, v); err != nil {
			return err
		}
	}
	return nil
}
