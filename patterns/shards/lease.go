package shards

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/parallel"
)

// read calls f with the account at which the partition is read, until the result is one of the
// account that owned the partition during the whole call.
func (s *Shards) read(ctx context.Context, partition string, f func(string) error) error {
	for {
		d, err := s.current(ctx)
		if err != nil {
			return err
		}
		owner := d.reader(partition)
		result := f(owner)
		now, err := s.leased(ctx, d)
		if err != nil {
			return err
		}
		if now.follows(d) && now.reader(partition) == owner {
			return result
		}
	}
}

// follows reports whether at most one move has changed the directory since d. A move changes
// the owner of a partition at most once, so an owner that is the same has not changed meanwhile.
func (now *seen) follows(d *seen) bool {
	moves := now.Epoch - d.Epoch
	if d.Move != nil {
		moves++
	}
	return moves <= 1
}

// write calls f once, with the account at which the partition is written. If the partition is
// moving it first waits. The result of f counts only if the partition could be written there
// during the whole call; otherwise the outcome is unknown.
func (s *Shards) write(ctx context.Context, partition string, f func(string) error) error {
	d, err := s.current(ctx)
	if err != nil {
		return err
	}
	name, open := d.writer(partition)
	for !open {
		if err = parallel.Sleep(ctx, d.Lease/4); err == nil {
			d, err = s.fresh(ctx)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMoving, err)
		}
		name, open = d.writer(partition)
	}
	result := f(name)
	now, err := s.leased(ctx, d)
	if err == nil && now.follows(d) {
		if still, open := now.writer(partition); open && still == name {
			return result
		}
	}
	if result == nil {
		result = errMoved
	}
	return &azerr.UnknownOutcome{Cause: result, Then: err}
}
