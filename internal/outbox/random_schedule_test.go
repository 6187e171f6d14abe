package outbox_test

import (
	"context"
	"errors"
	"flag"
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

var (
	schedules = flag.Int("store.schedules", 20, "schedules for each script of TestEveryRandomScheduleEndsConsistent")
	viewsOnly = flag.String("store.views", "", "the views of TestEveryRandomScheduleEndsConsistent, joined by commas, instead of many choices")
)

// script is what a rapid test draws: the operations of each process, and the faults.
type script struct {
	views   []string
	writers [][]act
	workers int
	lose    float64       // the probability that a request, or a reply, is lost
	die     int           // a process is killed at a step up to this, 0 for none
	latency time.Duration // the longest of a request
	twice   float64       // the probability that two workers receive a message
	early   float64       // the probability that a message is received before its time
}

// act is one operation on one of a few entities that compete for a few values.
type act struct {
	Kind              int // insert, put, update, delete, update of a read item
	ID, Email, Badge  int
	Last, Name        int
	Head, OtherBranch bool
}

var drawAct = rapid.Custom(func(t *rapid.T) act {
	small := rapid.IntRange(0, 2)
	return act{
		Kind: rapid.IntRange(0, 5).Draw(t, "kind"), ID: small.Draw(t, "id"), Email: small.Draw(t, "email"), Badge: small.Draw(t, "badge"),
		Last: rapid.IntRange(0, 1).Draw(t, "last"), Name: rapid.IntRange(0, 1).Draw(t, "name"),
		Head: rapid.IntRange(0, 3).Draw(t, "head") == 0, OtherBranch: rapid.IntRange(0, 3).Draw(t, "branch") == 0,
	}
})

// drawViews draws all views or fewer: a row that entities have in common ends races early,
// and so hides errors.
var drawViews = rapid.Custom(func(t *rapid.T) []string {
	if known := rapid.SampledFrom([][]string{everyView, fewViews, nil}).Draw(t, "known"); known != nil {
		return known
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(everyView), 1, -1, rapid.ID[string]).Draw(t, "some")
})

var drawScript = rapid.Custom(func(t *rapid.T) script {
	return script{
		views:   drawViews.Draw(t, "views"),
		writers: rapid.SliceOfN(rapid.SliceOfN(drawAct, 1, 4), 1, 3).Draw(t, "writers"),
		workers: rapid.IntRange(1, 2).Draw(t, "workers"),
		lose:    rapid.SampledFrom([]float64{0, 0.02, 0.1}).Draw(t, "lose"),
		die:     rapid.SampledFrom([]int{0, 15, 60}).Draw(t, "die"),
		latency: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 20 * time.Second, 2 * time.Minute}).Draw(t, "latency"),
		twice:   rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "twice"),
		early:   rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "early"),
	}
})

func (a *act) hire() *hire {
	h := &hire{Dept: "Sales", ID: fmt.Sprint(a.ID), Name: []string{"Ann", "Bob"}[a.Name], Last: []string{"Jones", "Smith"}[a.Last], Head: a.Head}
	if a.OtherBranch {
		h.Dept = "Marketing"
	}
	if a.Email > 0 {
		h.Email = fmt.Sprint("e", a.Email)
	}
	if a.Badge > 0 {
		h.Badge = fmt.Sprint("b", a.Badge)
	}
	h.Age = int32(20 + a.ID)
	return h
}

func (a *act) run(ctx context.Context, p *process) error {
	h := a.hire()
	change := func(now *hire) error { *now = *h; return nil }
	var err error
	switch a.Kind {
	case 0:
		_, err = p.Insert(ctx, h)
	case 1:
		_, err = p.Put(ctx, h)
	case 2:
		_, err = p.Update(ctx, h.key(), change)
	case 3:
		err = p.Delete(ctx, h.key())
	default:
		var was patterns.Item[hire]
		if was, err = p.Get(ctx, h.key()); err != nil {
			return err
		}
		if a.Kind == 4 {
			_, err = p.UpdateItem(ctx, was, change)
		} else if _, err = p.PutItem(ctx, was, h); err == nil {
			err = p.Delete(ctx, h.key())
		}
	}
	return err
}

// expected reports whether an operation of a schedule may return err.
func expected(err error) bool {
	for _, e := range []error{patterns.ErrExists, patterns.ErrNotFound, patterns.ErrConflict, patterns.ErrOutcomeUnknown, errLost, errKilled} {
		if errors.Is(err, e) {
			return true
		}
	}
	return err == nil
}

// schedule runs a script with delays, losses and kills that its seed determines.
type schedule struct {
	script
	*cluster
	seed uint64

	mu      sync.Mutex
	started uint64
	errs    []error
}

func (s *schedule) failed(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

// process starts a process with random faults.
func (s *schedule) process() (*process, *rand.Rand) {
	s.mu.Lock()
	s.started++
	chance := rand.New(rand.NewPCG(s.seed, s.started))
	s.mu.Unlock()
	pr := &process{chance: rand.New(rand.NewPCG(chance.Uint64(), 1)), latency: s.latency, lose: s.lose}
	pr.changed = func() { s.watch(context.Background()) }
	if s.die > 0 && chance.IntN(3) > 0 {
		pr.die, pr.after = 1+chance.IntN(s.die), chance.IntN(2) == 0
	}
	pr, err := s.start(pr)
	if err != nil {
		s.failed("start: %w", err)
	}
	return pr, chance
}

func (s *schedule) write(ctx context.Context, acts []act) {
	p, chance := s.process()
	for _, a := range acts {
		time.Sleep(time.Duration(chance.Int64N(int64(3 * s.latency))))
		if err := a.run(ctx, p); !expected(err) && !p.isDead() {
			s.failed("%+v: %w", a, err)
		}
		if p.isDead() {
			p, chance = s.process()
		}
	}
}

func (s *schedule) work(ctx context.Context, stop <-chan struct{}) {
	p, chance := s.process()
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(1 + chance.Int64N(int64(20*time.Second)))):
		}
		if chance.Float64() < s.early {
			s.queue.ShowFirst()
		}
		hide := 30 * time.Second
		if chance.Float64() < s.twice {
			hide = 1
		}
		_, err := s.queue.WorkOne(ctx, p, hide)
		if p.isDead() {
			p, chance = s.process()
		} else if !expected(err) || errors.As(err, new(*patterns.DuplicateError)) {
			s.failed("worker: %w", err)
		}
	}
}

// watch checks the invariants, after every transaction.
func (s *schedule) watch(ctx context.Context) {
	if err := errors.Join(inPartition(ctx, s.cluster), s.checkBadges(ctx)); err != nil {
		s.failed("after a transaction: %w", err)
	}
}

// checkBadges checks that no two primaries have the same badge, whose index is remote.
func (s *schedule) checkBadges(ctx context.Context) error {
	if !slices.Contains(s.cluster.views, "byBadge") {
		return nil
	}
	rows, err := readTable(ctx, s.own)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for key, p := range rows {
		if !strings.Contains(key, "|id_") {
			continue
		}
		badge := hireOf(key, p).Badge
		if other, twice := seen[badge]; twice && badge != "" {
			return fmt.Errorf("%s and %s have the badge %s", other, key, badge)
		}
		seen[badge] = key
	}
	return nil
}

func (s *schedule) run(ctx context.Context) error {
	c, err := newCluster(ctx, s.script.views)
	if err != nil {
		return err
	}
	s.cluster = c
	stop := make(chan struct{})
	var writers, others sync.WaitGroup
	for _, acts := range s.writers {
		writers.Go(func() { s.write(ctx, acts) })
	}
	for range s.workers {
		others.Go(func() { s.work(ctx, stop) })
	}
	writers.Wait()
	close(stop)
	others.Wait()
	if err := s.recover(ctx); err != nil {
		s.failed("recovery: %w", err)
	}
	if err := s.clean(ctx); err != nil {
		s.failed("after recovery: %w", err)
	}
	return errors.Join(s.errs...)
}

func TestEveryRandomScheduleEndsConsistent(t *testing.T) {
	t.Parallel()
	ran := 0
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScript.Draw(rt, "script")
		if *viewsOnly != "" {
			sc.views = strings.Split(*viewsOnly, ",")
		}
		first := rapid.Uint64().Draw(rt, "seed")
		for i := range *schedules {
			s := &schedule{script: sc, seed: first + uint64(i)}
			ran++
			if err := inVirtualTime(t, s.run); err != nil {
				rt.Fatalf("seed %d: %v", s.seed, err)
			}
		}
	})
	t.Logf("%d schedules", ran)
}
