package govern_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/govern"
)

// pageOf returns a query of a partition, with further parameters.
func pageOf(ctx context.Context, partition, parameters string) *http.Request {
	req := read(ctx, partition)
	req.URL.Path = "/people()"
	req.URL.RawQuery = "$filter=PartitionKey+eq+%27" + partition + "%27" + parameters
	req.Header.Set("Accept", "application/json")
	return req
}

// A burst of reads with a deadline of a second, and small queries of new partitions, at a service that
// accepts everything.
func TestNoCallFailsEarlyIfNothingWasRefused(t *testing.T) {
	for name, c := range map[string]struct {
		calls   int
		request func(ctx context.Context, n int) *http.Request
	}{
		"reads of one partition": {1_500, func(ctx context.Context, _ int) *http.Request { return read(ctx, "hot") }},
		"reads of an account":    {9_000, func(ctx context.Context, n int) *http.Request { return read(ctx, fmt.Sprint(n)) }},
		"small queries":          {20, func(ctx context.Context, _ int) *http.Request { return pageOf(ctx, "hot", "") }},
		"queries of partitions":  {2_000, func(ctx context.Context, n int) *http.Request { return pageOf(ctx, fmt.Sprint(n), "") }},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
				time.Sleep(roundTrip)
				return respond(http.StatusOK, nil, `{"value":[{"PartitionKey":"p"},{"PartitionKey":"p"}]}`), nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			var failed atomic.Int64
			var wg sync.WaitGroup
			for n := range c.calls {
				wg.Go(func() {
					resp, err := transport.Do(c.request(ctx, n))
					if err != nil {
						failed.Add(1)
						return
					}
					_, _ = resp.Body.Read(make([]byte, 1_000))
					resp.Body.Close()
				})
			}
			wg.Wait()
			t.Logf("%s: %d of %d failed, in %v", name, failed.Load(), c.calls, time.Since(began))
			assert.Equal(t, failed.Load(), 0, name, "calls failed")
		})
	}
}

// The first pages of a partition are charged with the rows that the query asks for, or that pages of
// other partitions had.
func TestAnUnseenPageIsChargedFromWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		parameters string
		seen       bool
	}{"top": {"&%24top=2", false}, "other partitions": {"", true}} {
		synctest.Test(t, func(t *testing.T) {
			_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
				return respond(http.StatusOK, nil, `{"value":[{"PartitionKey":"p"},{"PartitionKey":"p"}]}`), nil
			})
			get := func(partition string) {
				resp := assert.Must(transport.Do(pageOf(t.Context(), partition, c.parameters)))(t)
				_, _ = resp.Body.Read(make([]byte, 1_000))
				resp.Body.Close()
			}
			if c.seen {
				get("other")
				time.Sleep(time.Second)
			}
			began := time.Now()
			for range 40 { // of 2 rows; 100 entities do not wait
				get("new")
			}
			assert.Equal(t, time.Since(began), 0, name, "took")
		})
	}
}

func TestAnOutageOfOneAccountUsesNoRetriesOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := assert.Must(govern.New(nil))(t)
		opts := &aztables.ClientOptions{}
		n := 0
		opts.Transport = service(func(req *http.Request) (*http.Response, error) {
			if strings.HasPrefix(req.URL.Host, "down.") {
				return nil, errors.New("no connection")
			}
			if n++; n%50 == 0 {
				return nil, errors.New("connection reset")
			}
			return respond(http.StatusOK, http.Header{"Etag": {`W/"1"`}}, "{}"), nil
		})
		g.Attach(&opts.ClientOptions)
		client := func(account string) *aztables.Client {
			return assert.Must(aztables.NewClientWithNoCredential("https://"+account+".table.core.windows.net/people", opts))(t)
		}
		down, healthy := client("down"), client("healthy")
		denied := 0
		for range 500 {
			_, err := down.GetEntity(t.Context(), "p", "r", nil)
			if errors.Is(err, govern.ErrRetryBudget) {
				denied++
			}
			assert.NoError(t, assert.ErrorOf(healthy.GetEntity(t.Context(), "p", "r", nil)))
		}
		if denied < 400 {
			t.Errorf("the account that is down was denied %d retries", denied)
		}
	})
}

// TestRefusalsThatDoNotDependOnTheRateDoNotLowerIt compares the throughput of 8 workers with that
// without a governor, if some requests at random are refused.
func TestRefusalsThatDoNotDependOnTheRateDoNotLowerIt(t *testing.T) {
	for _, percent := range []float64{0.5, 1, 2, 3} {
		throughput := func(with bool) (done float64) {
			synctest.Test(t, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(1, uint64(10*percent)))
				var mu sync.Mutex
				var transport policy.Transporter = service(func(*http.Request) (*http.Response, error) {
					time.Sleep(roundTrip)
					mu.Lock()
					defer mu.Unlock()
					if chance.Float64() < percent/100 {
						return respond(http.StatusServiceUnavailable, nil, busy), nil
					}
					return respond(http.StatusOK, nil, "{}"), nil
				})
				if with {
					_, transport = governed(t, nil, transport.(service))
				}
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				l := work(ctx, &wg, transport, 8, func() *http.Request { return read(ctx, "hot") })
				time.Sleep(time.Minute)
				done = float64(l.Load()) / 60
				cancel()
				wg.Wait()
			})
			return done
		}
		plain, limited := throughput(false), throughput(true)
		t.Logf("%.1f %% refused: %.0f calls a second, %.0f without a governor", percent, limited, plain)
		figure(t, fmt.Sprintf("%.1f %% refused at random: share of the throughput", percent), limited/plain, 0.95, 1.05)
	}
}

// latencies makes requests at a rate, and returns how long they took, sorted.
func latencies(ctx context.Context, transport policy.Transporter, perSecond int, d time.Duration, request func() *http.Request) (took []time.Duration) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range int(d.Seconds() * float64(perSecond)) {
		wg.Go(func() {
			began := time.Now()
			resp, err := transport.Do(request())
			if err == nil && resp.StatusCode == http.StatusOK {
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
			}
		})
		time.Sleep(time.Second / time.Duration(perSecond))
	}
	wg.Wait()
	slices.Sort(took)
	return took
}

// Transactions in the background use what the foreground leaves. A read in the foreground waits for at
// most one of them, 50 ms.
func TestBackgroundWorkDelaysTheForegroundByOneRequest(t *testing.T) {
	for _, targets := range []*govern.Targets{nil, {Partition: partitionTarget, Account: accountTarget}} {
		synctest.Test(t, func(t *testing.T) {
			w := new(window)
			_, transport := governed(t, &govern.Options{Targets: targets}, w.Do)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			back := work(ctx, &wg, transport, 8, func() *http.Request {
				return changeset(govern.Background(ctx), http.MethodPut, "hot", 100)
			})
			time.Sleep(30 * time.Second)
			before := back.Load()
			took := latencies(ctx, transport, 50, 40*time.Second, func() *http.Request { return read(ctx, "hot") })
			p99 := took[len(took)*99/100]
			t.Logf("targets %+v: median %v, p99 %v of %d reads; %d transactions", targets, took[len(took)/2], p99, len(took), back.Load()-before)
			if p99 > 60*time.Millisecond || len(took) < 1_940 {
				t.Errorf("p99 %v of %d reads", p99, len(took))
			}
			if n := back.Load() - before; n < 600 {
				t.Errorf("%d transactions in the background", n)
			}
			cancel()
			wg.Wait()
		})
	}
}

// bucket is a token bucket.
type bucket struct {
	inner policy.Transporter
	mu    sync.Mutex
	next  time.Time
	every time.Duration
}

func (b *bucket) Do(req *http.Request) (*http.Response, error) {
	b.mu.Lock()
	at := b.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	b.next = at.Add(b.every)
	b.mu.Unlock()
	time.Sleep(time.Until(at))
	return b.inner.Do(req)
}

// With known targets a governor is compared with a token bucket at 95 % of the target, from the start.
func TestAKnownTargetIsUsedFromTheStart(t *testing.T) {
	measure := func(targets bool, workers int) (share, refused float64, p99 time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			w := new(window)
			var transport policy.Transporter = &bucket{inner: service(w.Do), every: time.Second * 100 / (95 * partitionTarget)}
			if targets {
				_, transport = governed(t, &govern.Options{Targets: &govern.Targets{Partition: partitionTarget, Account: accountTarget}}, w.Do)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var took []time.Duration
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for ctx.Err() == nil {
						began := time.Now()
						resp, err := transport.Do(read(ctx, "hot"))
						if err != nil || resp.StatusCode != http.StatusOK {
							time.Sleep(800 * time.Millisecond)
							continue
						}
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
					}
				})
			}
			time.Sleep(30 * time.Second)
			w.mu.Lock()
			share, refused = float64(w.entities)/(30*partitionTarget), float64(w.busy)/float64(w.tries)
			w.mu.Unlock()
			cancel()
			wg.Wait()
			slices.Sort(took)
			p99 = took[len(took)*99/100]
		})
		return share, refused, p99
	}
	for _, workers := range []int{64, 512} {
		_, _, bucket := measure(false, workers)
		share, refused, p99 := measure(true, workers)
		t.Logf("%d workers: p99 %v, of a token bucket %v", workers, p99, bucket)
		figure(t, fmt.Sprintf("known target, %d workers: share of it", workers), share, 0.97, 1)
		figure(t, fmt.Sprintf("known target, %d workers: share refused", workers), refused, 0, 0)
		if p99 > bucket {
			t.Errorf("p99 %v, of a token bucket %v", p99, bucket)
		}
	}
}

// The first 200 transactions of a bulk are refused less often than without a governor.
func TestTheStartOfABulkIsSeldomRefused(t *testing.T) {
	refused := func(with bool, targets *govern.Targets) (n int) {
		synctest.Test(t, func(t *testing.T) {
			w := new(window)
			var transport policy.Transporter = service(w.Do)
			if with {
				_, transport = governed(t, &govern.Options{Targets: targets}, w.Do)
			}
			var wg sync.WaitGroup
			var left atomic.Int64
			left.Store(200)
			for range 8 {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						for {
							resp, err := transport.Do(changeset(t.Context(), http.MethodPut, "hot", 100))
							assert.NoError(t, err)
							if resp.StatusCode == http.StatusOK {
								break
							}
							time.Sleep(800 * time.Millisecond)
						}
					}
				})
			}
			wg.Wait()
			n = w.busy
		})
		return n
	}
	plain, learned, known := refused(false, nil), refused(true, nil), refused(true, &govern.Targets{Partition: partitionTarget})
	t.Logf("refused of 200 transactions and their retries: %d without a governor, %d with, %d with known targets", plain, learned, known)
	if learned > plain/3 || known > 0 {
		t.Error("too many")
	}
}
