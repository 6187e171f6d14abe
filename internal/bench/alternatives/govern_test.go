package alternatives

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// distant is the account, with a round trip of 5 ms. It counts.
type distant struct {
	inner       policy.Transporter
	tries, busy atomic.Int64
}

func (d *distant) Do(req *http.Request) (*http.Response, error) {
	d.tries.Add(1)
	time.Sleep(2500 * time.Microsecond)
	resp, err := d.inner.Do(req)
	if resp != nil && resp.StatusCode == http.StatusServiceUnavailable {
		d.busy.Add(1)
	}
	time.Sleep(2500 * time.Microsecond)
	return resp, err
}

// limited sends each try with a permit of failsafe-go. It is an adaptive limit of concurrent
// requests, which learns from their latency; a refusal is not an execution.
type limited struct {
	inner   policy.Transporter
	limiter adaptivelimiter.AdaptiveLimiter[*http.Response]
}

func (l *limited) Do(req *http.Request) (*http.Response, error) {
	permit, err := l.limiter.AcquirePermitWithMaxWait(req.Context(), time.Minute)
	if err != nil {
		return nil, err
	}
	resp, err := l.inner.Do(req)
	if err != nil || resp.StatusCode == http.StatusServiceUnavailable {
		permit.Drop()
	} else {
		permit.Record()
	}
	return resp, err
}

// bucket is a token bucket at 95 % of the target, for which a request waits.
type bucket struct {
	inner policy.Transporter
	mu    sync.Mutex
	next  time.Time
}

func (b *bucket) Do(req *http.Request) (*http.Response, error) {
	b.mu.Lock()
	at := b.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	b.next = at.Add(time.Second / 1_900)
	b.mu.Unlock()
	select {
	case <-time.After(time.Until(at)):
		return b.inner.Do(req)
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// outcome is what 512 workers achieve in some seconds with one partition of 2,000 entities per second.
type outcome struct {
	goodput, refused float64
	failed           int64
	median, p99      time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("%7.1f %% %8.1f %% %8d %10v %10v", 100*o.goodput, 100*o.refused, o.failed, o.median.Round(time.Millisecond), o.p99.Round(time.Millisecond))
}

// overload measures a policy, which attach adds to the options of a client, from some seconds after the
// start on.
func overload(t *testing.T, after, seconds time.Duration, attach func(*azcore.ClientOptions)) (o outcome) {
	const workers, target = 512, 2_000
	synctest.Test(t, func(t *testing.T) {
		account := storagetest.New(t)
		assert.NoError(t, assert.ErrorOf(account.Tables().CreateTable(t.Context(), "people", nil)))
		account.Throttle(nil)
		d := &distant{inner: account.Transport()}
		opts := &aztables.ClientOptions{}
		opts.Transport = d
		attach(&opts.ClientOptions)
		service := assert.Must(aztables.NewServiceClientFromConnectionString(account.ConnectionString(), opts))(t)
		people := service.NewClient("people")
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var latencies []time.Duration
		var wg sync.WaitGroup
		started := time.Now()
		for range workers {
			wg.Go(func() {
				for ctx.Err() == nil {
					began := time.Now()
					_, err := people.GetEntity(ctx, "hot", "r", nil)
					var reply *azcore.ResponseError
					if ctx.Err() != nil {
						return
					}
					if time.Since(started) < after {
						continue
					}
					mu.Lock()
					if errors.As(err, &reply) && reply.StatusCode == http.StatusNotFound {
						latencies = append(latencies, time.Since(began))
					} else {
						o.failed++
					}
					mu.Unlock()
				}
			})
		}
		time.Sleep(after)
		d.tries.Store(0)
		d.busy.Store(0)
		time.Sleep(seconds)
		cancel()
		wg.Wait()
		slices.Sort(latencies)
		o.goodput = float64(len(latencies)) / (seconds.Seconds() * target)
		o.refused = float64(d.busy.Load()) / float64(d.tries.Load())
		o.median, o.p99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	})
	return o
}

// A client that learns the target of a partition is refused less often than one that learns from
// latency, and than one that only retries, and its callers wait less. One that knows the target is
// better than a token bucket that knows it.
func TestGovernAndItsAlternativesInVirtualTime(t *testing.T) {
	governed := func(opts *govern.Options) func(*azcore.ClientOptions) {
		return func(o *azcore.ClientOptions) { assert.Must(govern.New(opts))(t).Attach(o) }
	}
	ways := []struct {
		name   string
		attach func(*azcore.ClientOptions)
	}{
		{"govern", governed(nil)},
		{"govern, known target", governed(&govern.Options{Targets: &govern.Targets{Partition: 2_000, Account: 20_000}})},
		{"token bucket at 95 %", func(o *azcore.ClientOptions) { o.Transport = &bucket{inner: o.Transport} }},
		{"failsafe-go adaptive limiter", func(o *azcore.ClientOptions) {
			o.Transport = &limited{o.Transport, adaptivelimiter.NewBuilder[*http.Response]().WithQueueing(10, 20).Build()}
		}},
		{"retries of the SDK", func(*azcore.ClientOptions) {}},
	}
	for _, after := range []time.Duration{0, 10 * time.Second} {
		var b strings.Builder
		fmt.Fprintf(&b, "\n20 seconds, %v after the start:\n%-34s %9s %10s %8s %10s %10s\n", after, "", "goodput", "refused", "failed", "median", "p99")
		var all []outcome
		for _, way := range ways {
			o := overload(t, after, 20*time.Second, way.attach)
			all = append(all, o)
			fmt.Fprintf(&b, "%-34s %v\n", way.name, o)
		}
		t.Log(b.String())
		for _, other := range all[3:] {
			if all[0].refused > other.refused || all[0].p99 > other.p99 {
				t.Errorf("an alternative to a limit that is learned is better: %v", other)
			}
		}
		if known, simple := all[1], all[2]; known.goodput < simple.goodput || known.p99 > simple.p99 || known.refused > 0 {
			t.Errorf("a token bucket is better: %v", simple)
		}
	}
}
