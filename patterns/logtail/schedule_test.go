package logtail_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

// Clients append entries and repeat those of unknown outcome with Retry, while requests and
// replies are lost or arrive late, and processes are killed or paused. Each acknowledged
// entry is there exactly once, a refused one never, and one of unknown outcome at most once;
// the entries of one AppendAll are there together.
func TestEveryAppendOfARandomScheduleIsThereOnceOrAsItsErrorStates(t *testing.T) {
	modes := []string{"plain", "accelerated", "plain, buckets"}
	harness.Schedules(t, modes, 5, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		s.Faults.Deny = float64(s.IntN(4)) / 8
		r := &tailRun{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, promises: map[string]promise{}}
		setup := r.log(s.Reliable(), 999)
		if err := setup.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		stop := make(chan struct{})
		var clients, reader sync.WaitGroup
		for n := range 1 + s.IntN(3) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+1)))
			clients.Go(func() { r.client(ctx, 100*n, chance) })
		}
		reader.Go(func() {
			for done, pause := false, 53*time.Second; !done; pause += pause {
				r.check(ctx, setup, false)
				select {
				case <-stop:
					done = true
				case <-time.After(pause):
				}
			}
		})
		clients.Wait()
		close(stop)
		reader.Wait()
		s.WaitLate()
		r.check(ctx, setup, true)
	})
}

// promise is what the writer of an entry knows of it.
type promise string

const (
	refused promise = "refused"
	open    promise = "open"
	stored  promise = "stored"
)

type tailRun struct {
	*harness.Schedule
	mode    string
	retries int32

	mu       sync.Mutex
	promises map[string]promise // by the value of the entry
}

func (r *tailRun) log(p *harness.Process, number int) *logtail.Log[claim] {
	service, err := p.Tables(strings.HasPrefix(r.mode, "accelerated"), r.retries)
	if err != nil {
		panic(err)
	}
	var o logtail.Options[claim]
	if strings.HasSuffix(r.mode, "buckets") {
		o.Buckets = 3
	}
	log, err := logtail.New(service.NewClient("logs"), &o)
	if err != nil {
		panic(err)
	}
	logtail.SetID(log, fmt.Sprintf("%016x", number)) // a random one would change the schedule
	return log
}

// client appends entries and starts another process if its process is killed. The next
// process knows the keys of its entries and may repeat them.
func (r *tailRun) client(ctx context.Context, number int, chance *rand.Rand) {
	var p *harness.Process
	var log *logtail.Log[claim]
	var failed []logtail.Entry[claim] // of the last call, if it failed
	for i := range 3 + chance.IntN(6) {
		if p == nil || p.Dead() {
			p = r.Process(number + i)
			log = r.log(p, number+i)
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		var entries []logtail.Entry[claim]
		var err error
		switch what := fmt.Sprint(number, ".", i); {
		case len(failed) > 0 && chance.IntN(3) > 0:
			entries = failed
			err = log.Retry(ctx, entries...)
		case chance.IntN(2) == 0:
			r.promise([]string{what}, open)
			entries = make([]logtail.Entry[claim], 1)
			if entries[0], err = log.Append(ctx, "s", &claim{What: what}); entries[0].Value.What != what {
				r.Failf("append returned %v and %w", entries[0], err)
			}
		default:
			var values []claim
			for n := range 2 + chance.IntN(3) {
				values = append(values, claim{What: fmt.Sprint(what, " all ", n)})
				r.promise([]string{values[n].What}, open)
			}
			entries, err = log.AppendAll(ctx, "s", values)
		}
		r.Log("%v: %v", whats(entries), err)
		failed = entries
		switch {
		case err == nil:
			failed = nil
			r.promise(whats(entries), stored)
		case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
			r.promise(whats(entries), open)
		default:
			r.promise(whats(entries), refused)
		}
	}
}

func (r *tailRun) promise(entries []string, p promise) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, what := range entries {
		r.promises[what] = p
	}
}

// check reads all entries in two ways. The entries that were acknowledged before must be
// among them; in the end, no refused one.
func (r *tailRun) check(ctx context.Context, log *logtail.Log[claim], end bool) {
	r.mu.Lock()
	before := maps.Clone(r.promises)
	r.mu.Unlock()
	times := map[string]int{}
	groups := map[string]int{}
	last := ""
	for e, err := range log.Tail(ctx, "s", 1000) {
		if err != nil {
			r.Failf("tail: %w", err)
			return
		}
		if e.Key.Row <= last {
			r.Failf("the entries are not in order")
		}
		last = e.Key.Row
		times[e.Value.What]++
		group, _, _ := strings.Cut(e.Value.What, " all ")
		groups[group]++
	}
	for what, p := range before {
		group, _, _ := strings.Cut(what, " all ")
		switch n := times[what]; {
		case n > 1, p == stored && n != 1:
			r.Failf("%s is %s and was read %d times", what, p, n)
		case end && p == refused && n > 0:
			r.Failf("%s was refused and is stored", what)
		case end && n == 0 && groups[group] > 0:
			r.Failf("%s is missing, %d others of its transaction are stored", what, groups[group])
		}
	}
}
