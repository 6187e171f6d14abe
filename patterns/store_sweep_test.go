package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// TestSweepHealsWhatALostQueueLeaves kills a process at each request, then loses
// the queue.
func TestSweepHealsWhatALostQueueLeaves(t *testing.T) {
	for name, sc := range scenarios() {
		killed := true
		for at := 1; killed; at++ {
			err := inVirtualTime(t, func(ctx context.Context) error {
				p, pr, err := prepared(ctx, sc, at, true)
				if err != nil {
					return err
				}
				_ = sc.call(ctx, pr)
				killed = pr.isDead()
				p.queue.messages = nil
				return sweepUntilClean(ctx, p)
			})
			if err != nil {
				t.Errorf("%s, killed after request %d: %v", name, at, err)
			}
		}
	}
}

func sweepUntilClean(ctx context.Context, p *place) error {
	s, err := p.start(&process{})
	if err != nil {
		return err
	}
	before, err := shelve(ctx, p.own)
	if err != nil {
		return err
	}
	for _, wait := range []time.Duration{0, 5 * testGrace, 2 * testExpiry} {
		time.Sleep(wait)
		dry, err := s.Sweep(ctx, &patterns.SweepOptions{DryRun: true})
		if err != nil {
			return err
		}
		calls := 0
		report, err := s.Sweep(ctx, &patterns.SweepOptions{Progress: func(patterns.SweepReport) { calls++ }})
		if err != nil || len(report.Failures) > 0 {
			return fmt.Errorf("%w: %v", err, report.Failures)
		}
		if got, want := fmt.Sprint(report), fmt.Sprint(dry); got != want {
			return fmt.Errorf("after %v: swept %v, the dry run said %v", wait, got, want)
		}
		if calls != n(report) {
			return fmt.Errorf("progress was told %d times of %d rows", calls, n(report))
		}
		if wait == 0 {
			after, err := shelve(ctx, p.own)
			if err != nil || len(after) != len(before) || report.Young != n(report) {
				return fmt.Errorf("a sweep of young rows did something: %v, %w", report, err)
			}
		}
	}
	return errors.Join(p.recover(ctx), p.clean(ctx))
}

func n(r patterns.SweepReport) int { return r.Young + r.Drained + r.Released + r.Removed }
