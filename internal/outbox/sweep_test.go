package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// A process is killed at each request, and the queue is lost.
func TestSweepRepairsAfterTheQueueIsLost(t *testing.T) {
	t.Parallel()
	sample := harness.Sample(t, 3)
	for name, sc := range scenarios() {
		killed := true
		for at := 1; killed; at++ {
			if !sample(at) {
				continue
			}
			err := inVirtualTime(t, func(ctx context.Context) error {
				c, pr, err := prepared(ctx, sc, patterns.Immediately, at, true)
				if err != nil {
					return err
				}
				_ = sc.call(ctx, pr)
				killed = pr.Dead()
				c.queue.Clear()
				return sweepUntilClean(ctx, c)
			})
			if err != nil {
				t.Errorf("%s, killed after request %d: %v", name, at, err)
			}
		}
	}
}

func sweepUntilClean(ctx context.Context, c *cluster) error {
	s, err := c.start(&process{})
	if err != nil {
		return err
	}
	before, err := readTable(ctx, c.own)
	if err != nil {
		return err
	}
	for _, wait := range []time.Duration{0, 5 * testGrace, 2 * testExpiry} {
		time.Sleep(wait)
		dry, err := s.Sweep(ctx, &patterns.SweepOptions{DryRun: true})
		if err != nil {
			return err
		}
		calls, found := 0, 0
		report, err := s.Sweep(ctx, &patterns.SweepOptions{Progress: func(p patterns.Progress) {
			if p.Found > found {
				calls++
			}
			found = p.Found
		}})
		if err != nil || len(report.Failures) > 0 {
			return fmt.Errorf("%w: %v", err, report.Failures)
		}
		dry.Requests, report.Requests = 0, 0
		if got, want := fmt.Sprint(report), fmt.Sprint(dry); got != want {
			return fmt.Errorf("after %v: swept %v, the dry run reported %v", wait, got, want)
		}
		if calls != report.Found || report.Found != report.Done+report.Skipped {
			return fmt.Errorf("progress was called %d times for %v", calls, report)
		}
		if wait == 0 {
			after, err := readTable(ctx, c.own)
			if err != nil || len(after) != len(before) || report.Skipped != report.Found {
				return fmt.Errorf("a sweep of young rows changed something: %v, %w", report, err)
			}
		}
	}
	return errors.Join(c.recover(ctx), c.clean(ctx))
}

// A sweep finds the outbox row of a slow operation, which then deletes it.
func TestASweepLeavesNoRowOfAConcurrentOperation(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, everyView)
		if err != nil {
			return err
		}
		slow, err1 := c.start(&process{})
		sweeper, err2 := c.start(&process{})
		found, finished := make(chan bool), make(chan bool)
		swept := make(chan error)
		sweeper.sending = func(method, path string) {
			if method == "GET" && strings.Contains(path, "~azp_outbox_") {
				found <- true
				<-finished
			}
		}
		slow.sending = func(method, path string) {
			if method == "DELETE" && strings.Contains(path, "~azp_outbox_") {
				time.Sleep(5 * testGrace)
				go func() {
					report, err := sweeper.Sweep(ctx, nil)
					if report.Skipped != 1 || report.Found != 1 || len(report.Failures) > 0 {
						err = fmt.Errorf("the report is %v: %v", report, err)
					}
					swept <- err
				}()
				<-found
			}
		}
		_, err3 := slow.Insert(ctx, jones())
		close(finished)
		return errors.Join(err1, err2, err3, <-swept, c.recover(ctx), c.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// An operation that has reserved a row pauses until a sweep has released the row.
func TestASweepFencesWhatItReleases(t *testing.T) {
	testRace(t, func(r *race) {
		b, q, sweeper := r.process(), r.process(), r.process()
		b.inside(1, func() {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(r.ctx, nil)
			r.must(err)
			if report.Released != 1 || report.Found != 1 {
				t.Errorf("swept %v", report)
			}
			_, err = q.Insert(r.ctx, rival())
			r.must(err)
		})
		_, err := b.Insert(r.ctx, withBadge("B7"))
		r.refused("the operation that was too late", err)
	})
}

// The record of an operation is swept twice.
func TestASweepKeepsRecordsUntilTheyExpire(t *testing.T) {
	testRace(t, func(r *race) {
		a, sweeper := r.process(), r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge(""))
		for i, want := range []patterns.SweepReport{{Drained: 1}, {Progress: patterns.Progress{Skipped: 1}}} {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(r.ctx, nil)
			r.must(err)
			if report.Drained != want.Drained || report.Skipped != want.Skipped || report.Found != 1 {
				t.Errorf("sweep %d reports %v, want %v", i+1, report, want)
			}
		}
	})
}
