package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Artist struct {
	aztables.Entity
	Name    string
	Country string
}

type ArtistRepo struct {
	client *aztables.Client
}

func (r *ArtistRepo) Load(ctx context.Context, genre, id string) (*Artist, error) {
	resp, err := r.client.GetEntity(ctx, genre, id, nil)
	if err != nil {
		return nil, fmt.Errorf("load artist %s/%s: %w", genre, id, err)
	}
	var a Artist
	if err := json.Unmarshal(resp.Value, &a); err != nil {
		return nil, fmt.Errorf("decode artist %s/%s: %w", genre, id, err)
	}
	return &a, nil
}
