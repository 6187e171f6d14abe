package outbox_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
)

// Each operation on an entity begins as soon as the transaction of the one before it was applied,
// and any request may take a minute longer than the others. So operations read what others are
// about to write, and write what others have read. No request is lost, and no process dies: in
// the end all rows are correct without a worker's help but that of the messages.
func TestOperationsThatFollowEachOtherCloselyEndConsistent(t *testing.T) {
	harness.Schedules(t, []string{"a unique row", "rows in another table", "a counter", "few views"}, 30, func(ctx context.Context, mode string, s *harness.Schedule) {
		r := &storeRun{Schedule: s, cluster: &cluster{inner: s.Inner, expiry: time.Hour, stamped: s.IntN(2) == 0}}
		r.views = map[string][]string{
			"a unique row": {"byBadge"}, "rows in another table": {"byName", "lastAll"}, "a counter": {"company"}, "few views": fewViews,
		}[mode]
		r.check("create", r.create(ctx))
		next := make(chan struct{})
		close(next)
		var working sync.WaitGroup
		for n := range 2 + s.IntN(2) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+1)))
			p := r.slow(n+1, chance)
			begin, applied := next, make(chan struct{})
			next = applied
			p.changed = sync.OnceFunc(func() { close(applied) })
			working.Go(func() {
				<-begin
				time.Sleep(time.Duration(chance.IntN(3)) * time.Second)
				h := jones()
				h.Age, h.Badge = int32(n+1), []string{"", "B7", "B7"}[chance.IntN(3)]
				kind := []int{2, 3, 4, 4}[chance.IntN(4)] // put, update, delete
				if n == 0 {
					kind, h.Badge = 0, "B7"
				}
				if err := r.act(ctx, p, h, kind); !r.expected(err) {
					s.Failf("operation %d: %w", n, err)
				}
				p.changed() // also if it has changed nothing
			})
		}
		working.Wait()
		r.check("recovery", r.recover(ctx))
		r.check("in the end", r.clean(ctx))
	})
}

// slow starts a process, some of whose requests take a minute longer than the others.
func (r *storeRun) slow(number int, chance *rand.Rand) *process {
	var mu sync.Mutex
	wait := func() (d time.Duration) {
		if chance.IntN(4) == 0 {
			d = time.Duration(1+chance.IntN(60)) * time.Second
		}
		return d
	}
	decide := func(string, string) harness.Fate {
		mu.Lock()
		defer mu.Unlock()
		return harness.Fate{Before: wait() + time.Duration(number)*time.Millisecond, After: wait()}
	}
	p, err := r.start(&process{Process: &harness.Process{Inner: r.Inner, Decide: decide}})
	r.check("start", err)
	return p
}
