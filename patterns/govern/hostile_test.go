package govern_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
)

func TestARefusedPartitionIsNotUsedBeforeRetryAfterAndOthersAre(t *testing.T) {
	// The clock of the service is a year ahead.
	ahead := time.Now().AddDate(1, 0, 0).UTC()
	for name, header := range map[string]http.Header{
		"seconds":           {"Retry-After": {"7"}},
		"milliseconds":      {"Retry-After-Ms": {"7000"}},
		"milliseconds of x": {"X-Ms-Retry-After-Ms": {"7000"}},
		"date":              {"Retry-After": {ahead.Add(7 * time.Second).Format(http.TimeFormat)}, "Date": {ahead.Format(http.TimeFormat)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			_, transport := governed(t, nil, func(req *http.Request) (*http.Response, error) {
				if sent.Add(1) == 1 {
					return respond(http.StatusServiceUnavailable, header, busy), nil
				}
				return respond(http.StatusOK, nil, "{}"), nil
			})
			began := time.Now()
			do := func(partition string, want time.Duration) {
				t.Helper()
				assert.Equal(t, assert.ErrorOf(transport.Do(read(t.Context(), partition))), nil)
				assert.Equal(t, time.Since(began).Round(10*time.Millisecond), want, name, "partition", partition, "sent after")
			}
			do("hot", 0)
			do("other", 0)
			do("hot", 7*time.Second)
		})
	}
}

func TestARefusalBeyondATargetOfTheAccountStopsAllPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			if sent.Add(1) == 1 {
				return respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {"3"}}, "Operations per second is over the account limit."), nil
			}
			return respond(http.StatusOK, nil, "{}"), nil
		})
		began := time.Now()
		for _, partition := range []string{"a", "b"} {
			assert.Equal(t, assert.ErrorOf(transport.Do(read(t.Context(), partition))), nil)
		}
		if waited := time.Since(began); waited < 3*time.Second {
			t.Errorf("the second request was sent after %v", waited)
		}
	})
}

func TestARequestWhoseDeadlineIsTooShortFailsImmediatelyAndIsNotSent(t *testing.T) {
	for _, accelerated := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, accelerated)
			w.distant.inner = service(func(*http.Request) (*http.Response, error) {
				return respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {"100"}}, busy), nil
			})
			type person struct{ PartitionKey, RowKey string }
			people, err := patterns.NewTable[person](w.people, nil)
			assert.NoError(t, err)
			insert := func(ctx context.Context) error {
				_, err := people.Insert(ctx, &person{"hot", "r"})
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = insert(ctx) // refused
			sent := w.distant.tries.Load()
			ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			began := time.Now()
			err = insert(ctx)
			var wait *govern.WaitError
			if !errors.As(err, &wait) || !errors.Is(err, context.DeadlineExceeded) || wait.Wait < 60*time.Second || wait.Wait > 100*time.Second {
				t.Errorf("accelerated %v: %v", accelerated, err)
			}
			if errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("accelerated %v: nothing was sent: %v", accelerated, err)
			}
			if n := w.distant.tries.Load() - sent; n != 0 || time.Since(began) != 0 {
				t.Errorf("accelerated %v: %d requests in %v", accelerated, n, time.Since(began))
			}
		})
	}
}

func TestACanceledRequestReturnsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			if sent.Add(1) == 1 {
				return respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {"10"}}, busy), nil
			}
			return respond(http.StatusOK, nil, "{}"), nil
		})
		assert.NoError(t, assert.ErrorOf(transport.Do(read(t.Context(), "hot"))))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 1_000 {
			wg.Go(func() {
				_, err := transport.Do(read(ctx, "hot"))
				var wait *govern.WaitError
				if !errors.As(err, &wait) || !errors.Is(err, context.Canceled) {
					t.Errorf("canceled: %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		began := time.Now()
		for range 3 {
			assert.Equal(t, assert.ErrorOf(transport.Do(read(t.Context(), "hot"))), nil)
		}
		if waited := time.Since(began); waited > 10*time.Second+20*time.Millisecond {
			t.Errorf("3 requests after 1,000 canceled ones took %v", waited)
		}
		assert.Equal(t, sent.Load(), 4, "requests were sent, want 4")
	})
}

// The first request after a refusal is canceled, or its reply is lost: the next one is sent.
func TestALostProbeDoesNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			switch sent.Add(1) {
			case 1:
				return respond(http.StatusServiceUnavailable, nil, busy), nil
			case 2:
				time.Sleep(time.Second)
				return nil, errors.New("lost")
			}
			return respond(http.StatusOK, nil, "{}"), nil
		})
		_, _ = transport.Do(read(t.Context(), "hot"))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { _, _ = transport.Do(read(t.Context(), "hot")) })
		}
		wg.Wait()
		assert.Equal(t, sent.Load(), 51, "requests were sent")
	})
}

func TestAMillionPartitionsOccupyAtMost2MiB(t *testing.T) {
	ok := respond(http.StatusNoContent, nil, "")
	g, transport := governed(t, nil, func(*http.Request) (*http.Response, error) { return ok, nil })
	began, n := time.Now(), 0
	g.SetClock(func() time.Duration { return time.Since(began) + time.Duration(n)*time.Millisecond }) // never busy
	req := read(t.Context(), "")
	const head, tail = "/people(PartitionKey='", "',RowKey='r')"
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n = range 1_000_000 {
		req.URL.Path = head + strconv.Itoa(n) + tail
		assert.NoError(t, assert.ErrorOf(transport.Do(req)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d bytes", grown)
	}
	if n := g.Limiters(); n == 0 || n > 4_096 {
		t.Errorf("%d limits", n)
	}
}

func TestARefusedPartitionKeepsItsLimitWhileManyOthersAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, transport := governed(t, nil, func(req *http.Request) (*http.Response, error) {
			if req.URL.Path == read(t.Context(), "hot").URL.Path {
				return respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {"100"}}, busy), nil
			}
			return respond(http.StatusOK, nil, "{}"), nil
		})
		_, _ = transport.Do(read(t.Context(), "hot"))
		for n := range 10_000 {
			assert.NoError(t, assert.ErrorOf(transport.Do(read(t.Context(), strconv.Itoa(n)))))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := transport.Do(read(ctx, "hot")); !errors.As(err, new(*govern.WaitError)) {
			t.Errorf("the limit was forgotten: %v", err)
		}
	})
}

func TestAClockThatJumpsNeitherStopsRequestsNorPermitsABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		g, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			return respond(http.StatusOK, nil, "{}"), nil
		})
		began, jump := time.Now(), atomic.Int64{}
		jump.Store(int64(time.Hour))
		g.SetClock(func() time.Duration { return time.Since(began) + time.Duration(jump.Load()) })
		for _, to := range []time.Duration{time.Hour, 1000 * time.Hour, 0, time.Minute, math.MaxInt64 / 2, 0} {
			jump.Store(int64(to))
			before := sent.Load()
			var wg sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			for range 300 {
				wg.Go(func() { _, _ = transport.Do(read(ctx, "p")) })
			}
			synctest.Wait()
			if n := sent.Load() - before; n > 110 {
				t.Errorf("%d requests immediately after a jump to %v", n, to)
			}
			wg.Wait()
			cancel()
			assert.Equal(t, sent.Load()-before, 300, "of 300 requests within a second of a jump to", to)
		}
	})
}

func TestAFailingServiceIsSentAtMostATenthMoreThanWhatCallersAsk(t *testing.T) {
	const calls, spare = 2_000, 10
	for name, c := range map[string]struct {
		reply func() (*http.Response, error)
		share float64
		most  int64
	}{
		"error 500": {func() (*http.Response, error) {
			return respond(500, nil, `{"odata.error":{"code":"InternalError"}}`), nil
		}, 0, calls/9 + spare},
		"lost reply": {func() (*http.Response, error) { return nil, errors.New("connection reset") }, 0, calls/9 + spare},
		"no retries": {func() (*http.Response, error) {
			return respond(500, nil, `{"odata.error":{"code":"InternalError"}}`), nil
		}, -1, 0},
		"a half": {func() (*http.Response, error) {
			return respond(500, nil, `{"odata.error":{"code":"InternalError"}}`), nil
		}, 0.5, calls + spare},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			g := assert.Must(govern.New(&govern.Options{RetryShare: c.share}))(t)
			w := newWorldWith(t, g, false)
			w.distant.inner = service(func(*http.Request) (*http.Response, error) {
				sent.Add(1)
				return c.reply()
			})
			denied := 0
			for range calls {
				_, err := w.people.GetEntity(t.Context(), "p", "r", nil)
				if errors.Is(err, govern.ErrRetryBudget) {
					denied++
					if name == "error 500" && !hasStatus(err, 500) {
						t.Fatalf("%s: the reply is missing: %v", name, err)
					}
				}
			}
			if more := sent.Load() - calls; more > c.most || c.share == 0 && more < calls/10 {
				t.Errorf("%s: %d retries of %d calls", name, more, calls)
			}
			if denied < calls/2 && c.share == 0 {
				t.Errorf("%s: %d calls were denied a retry", name, denied)
			}
		})
	}
}

// The SDK sees that a lost write is not tried again. The library must not conclude that it was
// not sent.
func TestTheOutcomeOfALostWriteThatIsNotTriedAgainIsUnknown(t *testing.T) {
	for _, accelerated := range []bool{false, true} {
		g := assert.Must(govern.New(&govern.Options{RetryShare: -1}))(t)
		synctest.Test(t, func(t *testing.T) {
			w := newWorldWith(t, g, accelerated)
			w.distant.inner = service(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") })
			type person struct{ PartitionKey, RowKey string }
			people := assert.Must(patterns.NewTable[person](w.people, nil))(t)
			if _, err := people.Insert(t.Context(), &person{"p", "r"}); !errors.Is(err, patterns.ErrOutcomeUnknown) || !errors.Is(err, govern.ErrRetryBudget) {
				t.Errorf("accelerated %v: %v", accelerated, err)
			}
		})
	}
}

func TestConcurrentRequestsOfAllKinds(t *testing.T) { synctest.Test(t, concurrentRequests) }

func concurrentRequests(t *testing.T) {
	var sent atomic.Int64
	_, transport := governed(t, nil, func(req *http.Request) (*http.Response, error) {
		switch n := sent.Add(1); {
		case n%17 == 0:
			return respond(http.StatusServiceUnavailable, http.Header{"Retry-After-Ms": {"1"}}, busy), nil
		case n%19 == 0:
			return nil, errors.New("lost")
		}
		return respond(http.StatusOK, nil, `{"value":[{"PartitionKey":"p"}]}`), nil
	})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for n := range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 0 {
					ctx = govern.Background(ctx)
				}
				if n%5 == 0 {
					time.AfterFunc(time.Millisecond, cancel)
				}
				req := read(ctx, strconv.Itoa(n%3))
				if n%7 == 0 {
					req.URL.Path = "/people()"
					req.Header.Set("Accept", "application/json")
				}
				resp, err := transport.Do(req)
				if err == nil {
					_, _ = resp.Body.Read(make([]byte, 100))
					resp.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	for _, share := range []float64{1.01, math.Inf(1), math.NaN()} {
		assert.WantError(t, assert.ErrorOf(govern.New(&govern.Options{RetryShare: share})), patterns.ErrBadOption, share)
	}
}

func TestAttachIgnoresNilAndDoesNotAttachTwice(t *testing.T) {
	g, transport := governed(t, nil, nil)
	g.Attach(nil)
	opts := azcore.ClientOptions{Transport: transport}
	if g.Attach(&opts); opts.Transport != transport {
		t.Error("attached twice")
	}
	before := azcore.ClientOptions{}
	(&govern.Governor{}).Attach(&before)
	(*govern.Governor)(nil).Attach(&before)
	assert.Equal(t, before.Transport, nil, "a zero Governor was attached")
}

func TestBackgroundWorkHasATwentiethOfALimitThatTheForegroundUsesUp(t *testing.T) {
	for _, workers := range []int{1, 64} {
		inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
			const seconds = 10
			w.run(ctx, wg, 64, only("hot"))
			back := w.run(govern.Background(ctx), wg, workers, only("hot"))
			time.Sleep(2 * time.Second)
			done := during(seconds*time.Second, back.done.Load)
			figure(t, "background: share of the target", done/(seconds*partitionTarget), 0.02, 0.06)
		})
	}
}
