package reviews

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Review struct {
	PartitionKey string // film
	RowKey       string // reviewer
	Stars        int32
	Text         string
}

type Reviews struct {
	client *aztables.Client
}

// ForFilm returns the reviews of a film.
func (s *Reviews) ForFilm(ctx context.Context, film uuid.UUID) ([]Review, error) {
	wanted := film.String()
	filter := fmt.Sprintf("PartitionKey eq '%s'", wanted)
	pager := s.client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var reviews []Review
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading reviews: %w", err)
		}
		for _, raw := range page.Entities {
			var review Review
			if err := json.Unmarshal(raw, &review); err != nil {
				return nil, fmt.Errorf("decoding review: %w", err)
			}
			if review.PartitionKey == wanted {
				reviews = append(reviews, review)
			}
		}
	}
	return reviews, nil
}

// Average is the mean number of stars of a film.
func (s *Reviews) Average(ctx context.Context, film uuid.UUID) (float64, error) {
	reviews, err := s.ForFilm(ctx, film)
	if err != nil || len(reviews) == 0 {
		return 0, err
	}
	sum := 0
	for _, r := range reviews {
		sum += int(r.Stars)
	}
	return float64(sum) / float64(len(reviews)), nil
}
