package govern_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// distant is a transport with a round trip of 5 ms. It counts tries and refusals.
type distant struct {
	inner       policy.Transporter
	tries, busy atomic.Int64
}

const roundTrip = 5 * time.Millisecond

func (d *distant) Do(req *http.Request) (*http.Response, error) {
	d.tries.Add(1)
	time.Sleep(roundTrip / 2)
	resp, err := d.inner.Do(req)
	if resp != nil && resp.StatusCode == http.StatusServiceUnavailable {
		d.busy.Add(1)
	}
	time.Sleep(roundTrip / 2)
	return resp, err
}

// world is an account with a table and a client with a governor.
type world struct {
	*testing.T
	account *storagetest.Account
	distant *distant
	people  *aztables.Client
}

func newWorld(t *testing.T, accelerated bool) *world {
	t.Helper()
	g := assert.Must(govern.New(nil))(t)
	return newWorldWith(t, g, accelerated)
}

func newWorldWith(t *testing.T, g *govern.Governor, accelerated bool) *world {
	t.Helper()
	w := &world{T: t, account: storagetest.New(t)}
	w.distant = &distant{inner: w.account.Transport()}
	assert.NoError(t, assert.ErrorOf(w.account.Tables().CreateTable(t.Context(), "people", nil)))
	opts := &aztables.ClientOptions{}
	opts.Transport = w.distant
	if accelerated {
		patterns.Accelerate(&opts.ClientOptions)
	}
	g.Attach(&opts.ClientOptions)
	service := assert.Must(aztables.NewServiceClientFromConnectionString(w.account.ConnectionString(), opts))(t)
	w.people = service.NewClient("people")
	return w
}

// load counts requests.
type load struct {
	done   atomic.Int64
	failed atomic.Int64
}

// run starts workers that read a row in a partition, one request after the other.
func (w *world) run(ctx context.Context, wg *sync.WaitGroup, workers int, partition func(int) string) *load {
	l := new(load)
	for i := range workers {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n += workers {
				w.read(ctx, l, partition(n))
			}
		})
	}
	return l
}

// arrive makes that many requests per second, whether or not earlier ones have ended.
func (w *world) arrive(ctx context.Context, wg *sync.WaitGroup, perSecond int, partition string) *load {
	l := new(load)
	wg.Go(func() {
		for began, n := time.Now(), 0; ctx.Err() == nil; n++ {
			time.Sleep(time.Until(began.Add(time.Second * time.Duration(n) / time.Duration(perSecond))))
			wg.Go(func() { w.read(ctx, l, partition) })
		}
	})
	return l
}

func (w *world) read(ctx context.Context, l *load, partition string) {
	_, err := w.people.GetEntity(ctx, partition, "r", nil)
	switch {
	case ctx.Err() != nil:
	case isNotFound(err):
		l.done.Add(1)
	default:
		l.failed.Add(1)
	}
}

func only(partition string) func(int) string { return func(int) string { return partition } }

// during returns what a function counts within a span of time.
func during(span time.Duration, count func() int64) float64 {
	before := count()
	time.Sleep(span)
	return float64(count() - before)
}

// figure checks one figure, and prints it.
func figure(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	t.Logf("%-60s %8.3f", what, got)
	if got < least || got > most {
		t.Errorf("%s: %.4f, want %.4f to %.4f", what, got, least, most)
	}
}

// inWorld runs body in virtual time with an account that is throttled at the documented targets.
// When body returns, the context that it gets ends.
func inWorld(t *testing.T, accelerated bool, body func(ctx context.Context, w *world, wg *sync.WaitGroup)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, accelerated)
		w.account.Throttle(nil)
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		body(ctx, w, &wg)
		cancel()
		wg.Wait()
	})
}

const partitionTarget, accountTarget = 2_000, 20_000

func TestAPartitionIsUsedUpToItsTargetWithFewRefusals(t *testing.T) {
	for _, accelerated := range []bool{false, true} {
		inWorld(t, accelerated, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
			seconds := harness.Sized(20, 10)
			l := w.run(ctx, wg, 64, only("hot"))
			done := during(time.Duration(seconds)*time.Second, l.done.Load)
			figure(t, "partition: share of the target", done/float64(seconds*partitionTarget), 0.95, 1.01)
			figure(t, "partition: share refused", float64(w.distant.busy.Load())/float64(w.distant.tries.Load()), 0, 0.01)
			figure(t, "partition: failed requests", float64(l.failed.Load()), 0, 0)
		})
	}
}

func TestAnAccountIsUsedUpToItsTargetWithFewRefusals(t *testing.T) {
	inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
		const seconds = 8
		l := w.run(ctx, wg, 400, func(n int) string { return fmt.Sprint(n % 100) })
		done := during(seconds*time.Second, l.done.Load)
		figure(t, "account: share of the target", done/(seconds*accountTarget), 0.95, 1.01)
		figure(t, "account: share refused", float64(w.distant.busy.Load())/float64(w.distant.tries.Load()), 0, 0.01)
		figure(t, "account: failed requests", float64(l.failed.Load()), 0, 0)
	})
}

func TestAHotPartitionCostsAnotherAlmostNothing(t *testing.T) {
	const seconds = 10
	alone := func(hot int) (done float64) {
		inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
			w.run(ctx, wg, hot, only("hot"))
			l := w.arrive(ctx, wg, 1_000, "other")
			done = during(seconds*time.Second, l.done.Load)
		})
		return done
	}
	figure(t, "share that another partition loses", 1-alone(64)/alone(0), -0.01, 0.02)
}

func TestBackgroundWorkYieldsWithinASecond(t *testing.T) {
	inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
		back := w.run(govern.Background(ctx), wg, 64, only("hot"))
		time.Sleep(5 * time.Second)
		fore := w.arrive(ctx, wg, 1_800, "hot")
		figure(t, "first second of the foreground: share of its demand", during(time.Second, fore.done.Load)/1800, 0.9, 1.1)
		before := fore.done.Load() + back.done.Load()
		figure(t, "next seconds of the foreground: share of its demand", during(5*time.Second, fore.done.Load)/(5*1800), 0.98, 1.1)
		figure(t, "both: share of the target", float64(fore.done.Load()+back.done.Load()-before)/(5*partitionTarget), 0.95, 1.01)
	})
}

// The ten seconds contain the next refusals, which interrupt some workers.
func TestALimitFollowsATargetThatDoublesWithinFiveSeconds(t *testing.T) {
	sample := harness.Sample(t, 4)
	for i, at := range []time.Duration{10_000, 10_600, 11_200, 11_800} { // any point of the cycle
		if !sample(i) {
			continue
		}
		inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
			l := w.run(ctx, wg, 64, only("hot"))
			time.Sleep(at * time.Millisecond)
			w.account.Throttle(&storagetest.Targets{Partition: 2 * partitionTarget})
			reached := 0.0
			for s := 0.5; s <= 5; s += 0.5 {
				if during(time.Second/2, l.done.Load) >= 0.95*partitionTarget && reached == 0 {
					reached = s
				}
			}
			figure(t, "target that doubles: seconds until it is reached", reached, 0.5, 5)
			figure(t, "target that doubles: share in the next 10 s", during(10*time.Second, l.done.Load)/(10*2*partitionTarget), 0.95, 1.1)
		})
	}
}
