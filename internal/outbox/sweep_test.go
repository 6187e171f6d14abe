package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// TestSweepRepairsAfterTheQueueIsLost kills a process at each request, then loses
// the queue.
func TestSweepRepairsAfterTheQueueIsLost(t *testing.T) {
	t.Parallel()
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
				p.queue.Clear()
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

// TestASweepLeavesNoRowOfAConcurrentOperation lets a sweep find the
// outbox row of a slow operation, which then removes it.
func TestASweepLeavesNoRowOfAConcurrentOperation(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		p, err := newPlace(ctx, everyView)
		if err != nil {
			return err
		}
		slow, err1 := p.start(&process{})
		sweeper, err2 := p.start(&process{})
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
					if report.Young != 1 || n(report) != 1 || len(report.Failures) > 0 {
						err = fmt.Errorf("the report is %v: %v", report, err)
					}
					swept <- err
				}()
				<-found
			}
		}
		_, err3 := slow.Insert(ctx, jones())
		close(finished)
		return errors.Join(err1, err2, err3, <-swept, p.recover(ctx), p.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestASweepFencesWhatItReleases lets an operation that holds a row pause until a sweep
// has released the row.
func TestASweepFencesWhatItReleases(t *testing.T) {
	badgeTest(t, func(h *held) {
		b, q, sweeper := h.process(), h.process(), h.process()
		b.inside(1, func() {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(h.ctx, nil)
			h.must(err)
			if report.Released != 1 || n(report) != 1 {
				t.Errorf("swept %v", report)
			}
			_, err = q.Insert(h.ctx, somebodyElse())
			h.must(err)
		})
		_, err := b.Insert(h.ctx, withBadge("B7"))
		h.refused("the operation that was too late", err)
	})
}

// TestASweepKeepsRecordsUntilTheyExpire sweeps the record of an operation twice.
func TestASweepKeepsRecordsUntilTheyExpire(t *testing.T) {
	badgeTest(t, func(h *held) {
		a, sweeper := h.process(), h.process()
		a.changed = a.kill
		_, _ = a.Insert(h.ctx, withBadge(""))
		for i, want := range []patterns.SweepReport{{Drained: 1}, {Young: 1}} {
			time.Sleep(5 * testGrace)
			report, err := sweeper.Sweep(h.ctx, nil)
			h.must(err)
			if report.Drained != want.Drained || report.Young != want.Young || n(report) != 1 {
				t.Errorf("sweep %d says %v, want %v", i+1, report, want)
			}
		}
	})
}

func n(r patterns.SweepReport) int { return r.Young + r.Drained + r.Released + r.Removed }
