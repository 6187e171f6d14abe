package shards

import (
	"context"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// read calls f with the account at which the partition is read, until the result is one of the
// account that owned the partition during the whole call.
func (s *Shards) read(ctx context.Context, partition string, f func(string) error) error {
	frozen := func(d *seen) bool { return d.frozen(partition) }
	for {
		d, err := s.readable(ctx, frozen)
		if err != nil {
			return err
		}
		owner := d.reader(partition)
		result := f(owner)
		now, err := s.confirm(ctx, d, frozen(d))
		if err != nil {
			return err
		}
		if now.follows(d) && now.reader(partition) == owner && !(now.Closed > 0 && frozen(now)) {
			return result
		}
	}
}

// readable returns a version of the directory with which partitions can be read, and first waits
// if they are closed. frozen reports whether they belong to the step of a version.
func (s *Shards) readable(ctx context.Context, frozen func(*seen) bool) (*seen, error) {
	return s.usable(ctx, func(d *seen) time.Duration {
		if d.Closed > 0 && frozen(d) {
			return min(d.Closed, maxStep)
		}
		return 0
	})
}

// usable returns a version of the directory for which patience returns 0, and first waits for one. If it has
// waited for longer than patience returns, the run has probably died: usable undoes the step, so that the run
// cannot finish it.
func (s *Shards) usable(ctx context.Context, patience func(*seen) time.Duration) (*seen, error) {
	d, err := s.current(ctx)
	for began := time.Now(); err == nil && patience(d) > 0; {
		if calls.Elapsed(began) > patience(d) {
			item := d.item
			item.Value.Directory = d.undone()
			item.Value.Directory.Version++
			_, _ = s.home.Replace(ctx, item)
		}
		if err = calls.Sleep(ctx, d.Lease/8); err == nil {
			d, err = s.fresh(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMoving, err)
		}
	}
	return d, err
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
	d, err := s.usable(ctx, func(d *seen) time.Duration {
		if d.frozen(partition) {
			return maxStep
		}
		return 0
	})
	if err != nil {
		return err
	}
	name := d.reader(partition)
	result := f(name)
	now, err := s.confirm(ctx, d, false)
	if err == nil && now.follows(d) {
		if still, open := now.writer(partition); open && still == name {
			return result
		}
	}
	if result == nil {
		result = errMoved
	}
	return &sdkerr.UnknownOutcome{Cause: result, Then: err}
}
