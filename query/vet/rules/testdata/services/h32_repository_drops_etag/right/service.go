package counter

import (
	"context"
	"fmt"
)

// Repository loads and saves the counters of a page.
type Repository interface {
	Load(ctx context.Context, site, page string) (Counter, Version, error)
	Save(ctx context.Context, c Counter, v Version) error
}

type Service struct {
	repo Repository
}

// Like counts one more like. The caller repeats it on ErrChanged.
func (s *Service) Like(ctx context.Context, site, page string) (int32, error) {
	c, v, err := s.repo.Load(ctx, site, page)
	if err != nil {
		return 0, fmt.Errorf("load counter: %w", err)
	}
	c.Likes++
	if err := s.repo.Save(ctx, c, v); err != nil {
		return 0, fmt.Errorf("save counter: %w", err)
	}
	return c.Likes, nil
}
