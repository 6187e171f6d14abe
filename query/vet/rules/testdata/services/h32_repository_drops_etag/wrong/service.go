package counter

import (
	"context"
	"fmt"
)

// Repository loads and saves the counters of a page.
type Repository interface {
	Load(ctx context.Context, site, page string) (Counter, error)
	Save(ctx context.Context, c Counter) error
}

type Service struct {
	repo Repository
}

// Like counts one more like. The caller repeats it on ErrChanged.
func (s *Service) Like(ctx context.Context, site, page string) (int32, error) {
	c, err := s.repo.Load(ctx, site, page)
	if err != nil {
		return 0, fmt.Errorf("load counter: %w", err)
	}
	c.Likes++
	if err := s.repo.Save(ctx, c); err != nil { // MISTAKE: the save is unconditional, so likes counted at the same time are lost
		return 0, fmt.Errorf("save counter: %w", err)
	}
	return c.Likes, nil
}
