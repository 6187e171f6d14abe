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

// outcome is what 512 workers achieve in 20 s with one partition of 2,000 entities per second.
type outcome struct {
	goodput, refused float64
	failed           int64
	median, p99      time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("%7.1f %% %8.1f %% %8d %10v %10v", 100*o.goodput, 100*o.refused, o.failed, o.median.Round(time.Millisecond), o.p99.Round(time.Millisecond))
}

// overload measures a policy, which attach adds to the options of a client.
func overload(t *testing.T, attach func(*azcore.ClientOptions)) (o outcome) {
	const workers, seconds, target = 512, 20, 2_000
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
		for range workers {
			wg.Go(func() {
				for ctx.Err() == nil {
					began := time.Now()
					_, err := people.GetEntity(ctx, "hot", "r", nil)
					var reply *azcore.ResponseError
					if ctx.Err() != nil {
						return
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
		time.Sleep(seconds * time.Second)
		cancel()
		wg.Wait()
		slices.Sort(latencies)
		o.goodput = float64(len(latencies)) / (seconds * target)
		o.refused = float64(d.busy.Load()) / float64(d.tries.Load())
		o.median, o.p99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	})
	return o
}

// A client that learns the target of a partition is refused less often than one that learns from
// latency, and than one that only retries, and its callers wait less.
func TestGovernAndItsAlternativesInVirtualTime(t *testing.T) {
	governed := overload(t, func(o *azcore.ClientOptions) {
		g := assert.Must(govern.New(nil))(t)
		g.Attach(o)
	})
	retries := overload(t, func(*azcore.ClientOptions) {})
	failsafe := overload(t, func(o *azcore.ClientOptions) {
		o.Transport = &limited{o.Transport, adaptivelimiter.NewBuilder[*http.Response]().WithQueueing(10, 20).Build()}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-34s %9s %10s %8s %10s %10s\n", "", "goodput", "refused", "failed", "median", "p99")
	for _, row := range []struct {
		name string
		outcome
	}{{"govern", governed}, {"failsafe-go adaptive limiter", failsafe}, {"retries of the SDK", retries}} {
		fmt.Fprintf(&b, "%-34s %v\n", row.name, row.outcome)
	}
	t.Log(b.String())
	for _, other := range []outcome{failsafe, retries} {
		if governed.refused > other.refused || governed.p99 > other.p99 {
			t.Errorf("an alternative is better: %v", other)
		}
	}
}
