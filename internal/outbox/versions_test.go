package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/patterns"
)

// rollout is a random schedule of two versions of a program: half of the processes lack one
// view. Then all processes have it, and every entity is repaired.
type rollout struct {
	Added string // the view that the old version lacks
	Acts  [][]act
	Lose  float64
}

func (r *rollout) run(ctx context.Context, seed uint64) error {
	c, err := newCluster(ctx, everyView)
	if err != nil {
		return err
	}
	old := slices.DeleteFunc(slices.Clone(everyView), func(name string) bool { return name == r.Added })
	views := func(i int) []string { return [][]string{everyView, old}[i%2] }
	errs := make([]error, len(r.Acts)+2)
	stop := make(chan struct{})
	var writers, workers sync.WaitGroup
	start := func(i int) (*process, error) {
		return c.start(&process{views: views(i), chance: rand.New(rand.NewPCG(seed, uint64(i))), latency: time.Second, lose: r.Lose})
	}
	for i, acts := range r.Acts {
		p, err := start(i)
		if err != nil {
			return err
		}
		writers.Go(func() {
			for _, a := range acts {
				// Values of unique views differ, because the old version does not keep them so.
				a.Email, a.Badge, a.Head = max(a.Email, a.ID), 0, false
				if a.Email > 0 {
					a.Email += 10 * (a.ID + 1)
				}
				if err := a.run(ctx, p); !expected(err) && !errors.Is(err, patterns.ErrBadView) {
					errs[i] = err
				}
			}
		})
	}
	for i := range 2 {
		p, err := start(len(r.Acts) + i)
		if err != nil {
			return err
		}
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Second):
				}
				if _, err := c.queue.WorkOne(ctx, p, workerHides); !expected(err) {
					errs[len(r.Acts)+i] = fmt.Errorf("worker: %w", err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	workers.Wait()
	if err := errors.Join(append(errs, c.recover(ctx))...); err != nil {
		return err
	}
	p, err := c.start(&process{})
	if err != nil {
		return err
	}
	rows, err := readTable(ctx, c.own)
	for key, properties := range rows {
		if strings.Contains(key, "|id_") {
			h := hireOf(key, properties)
			err = errors.Join(err, p.Repair(ctx, h.key()))
		}
	}
	return errors.Join(err, c.recover(ctx), c.clean(ctx))
}

func TestTwoVersionsOfAProgramLeaveNoOrphansAndRightCounters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := &rollout{
			Added: rapid.SampledFrom([]string{"byEmail", "byName", "lastHere", "lastAll", "department", "company"}).Draw(rt, "added"),
			Acts:  rapid.SliceOfN(rapid.SliceOfN(drawAct, 1, 4), 2, 4).Draw(rt, "acts"),
			Lose:  rapid.SampledFrom([]float64{0, 0.05}).Draw(rt, "lose"),
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		if err := inVirtualTime(t, func(ctx context.Context) error { return r.run(ctx, seed) }); err != nil {
			rt.Fatalf("seed %d: %v", seed, err)
		}
	})
}
