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
	d, err := s.current(ctx)
	for began := time.Now(); err == nil && d.Closed > 0 && frozen(d); {
		if d, err = s.poll(ctx, d, began, min(d.Closed, maxStep)); err != nil {
			return nil, err
		}
	}
	return d, err
}

// poll returns a later version of the directory, for a caller that has waited for a step since began.
// If it has waited longer than it should, the run has probably died: poll undoes the step, so that the run
// cannot finish it.
func (s *Shards) poll(ctx context.Context, d *seen, began time.Time, patience time.Duration) (*seen, error) {
	if calls.Elapsed(began) > patience {
		item := d.item
		item.Value.Directory = d.undone()
		item.Value.Directory.Version++
		_, _ = s.home.Replace(ctx, item)
	}
	err := calls.Sleep(ctx, d.Lease/8)
	if err == nil {
		d, err = s.fresh(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMoving, err)
	}
	return d, nil
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
	for began := time.Now(); !open; {
		if d, err = s.poll(ctx, d, began, maxStep); err != nil {
			return err
		}
		name, open = d.writer(partition)
	}
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
