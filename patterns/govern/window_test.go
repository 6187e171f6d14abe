package govern_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/azpatterns/azpatterns/internal/assert"
)

// window is a partition that accepts 2,000 entities in each second of the clock, with the rules
// of storagetest.Account.Throttle and a round trip of 5 ms. It is much faster than an account.
type window struct {
	mu     sync.Mutex
	second int64
	used   int
	twice  atomic.Bool // the target has doubled
	// Of the requests: all, refused, and the entities of those accepted.
	tries, busy, entities int
}

func (w *window) Do(req *http.Request) (*http.Response, error) {
	time.Sleep(roundTrip / 2)
	accepted := w.admit(req)
	time.Sleep(roundTrip / 2)
	if !accepted {
		return respond(http.StatusServiceUnavailable, nil, busy), nil
	}
	return respond(http.StatusOK, nil, "{}"), nil
}

func (w *window) admit(req *http.Request) bool {
	weight := 1
	if strings.HasSuffix(req.URL.Path, "$batch") {
		weight = 100
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now().Unix(); now > w.second {
		w.used = int(max(0, int64(w.used)-int64(w.target())*(now-w.second)))
		w.second = now
	}
	w.tries++
	if w.used >= w.target() {
		w.busy++
		return false
	}
	w.used += weight
	w.entities += weight
	return true
}

// target returns how many entities are accepted in a second.
func (w *window) target() int {
	if w.twice.Load() {
		return 2 * partitionTarget
	}
	return partitionTarget
}

func (w *window) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries, w.busy, w.entities = 0, 0, 0
}

// figures checks what was accepted and refused in the last seconds.
func (w *window) figures(t *testing.T, what string, seconds, least, mostRefused float64) {
	t.Helper()
	defer w.reset()
	w.mu.Lock()
	defer w.mu.Unlock()
	figure(t, what+": share of the target", float64(w.entities)/(seconds*partitionTarget), least, 1.06)
	figure(t, what+": share refused", float64(w.busy)/float64(w.tries), 0, mostRefused)
}

// changeset returns a transaction of that many operations on a partition, whose key is escaped.
func changeset(ctx context.Context, method, partition string, operations int) *http.Request {
	var b strings.Builder
	for i := range operations {
		fmt.Fprintf(&b, "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n%s https://account.table.core.windows.net/people(PartitionKey='%s',RowKey='%03d') HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n", method, partition, i)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://account.table.core.windows.net/$batch", nil)
	if err != nil {
		panic(err)
	}
	req.Body = endless{strings.NewReader(b.String())}
	return req
}

// work starts workers that make one request after the other. One that is refused waits like the
// SDK before it goes on.
func work(ctx context.Context, wg *sync.WaitGroup, transport policy.Transporter, workers int, request func() *http.Request) *atomic.Int64 {
	done := new(atomic.Int64)
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				resp, err := transport.Do(request())
				switch {
				case err != nil:
				case resp.StatusCode == http.StatusOK:
					done.Add(1)
				default:
					time.Sleep(800 * time.Millisecond)
				}
			}
		})
	}
	return done
}

// A second of the target has room for only 20 transactions of 100 entities, so that one refusal
// in a second would be a twentieth of all requests. A limit grows only after 120 requests were
// accepted for each refusal: this bounds the share in a long run, whatever the workers do.
func TestTransactionsOf100UseThePartitionWithFewRefusals(t *testing.T) {
	for _, c := range []struct{ single, transactions int }{{0, 4}, {0, 64}, {4, 4}, {64, 4}} {
		synctest.Test(t, func(t *testing.T) {
			w := new(window)
			_, transport := governed(t, nil, w.Do)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			work(ctx, &wg, transport, c.single, func() *http.Request { return read(ctx, "hot") })
			work(ctx, &wg, transport, c.transactions, func() *http.Request { return changeset(ctx, http.MethodPut, "hot", 100) })
			what := fmt.Sprintf("%d workers with rows, %d with transactions", c.single, c.transactions)
			time.Sleep(20 * time.Second)
			w.figures(t, what+", first 20 s", 20, 0.85, 0.06)
			time.Sleep(300 * time.Second)
			w.figures(t, what+", next 300 s", 300, 0.95, 0.01)
			w.twice.Store(true)
			time.Sleep(40 * time.Second) // 30 seconds after a refusal a limit grows in any case
			w.reset()
			time.Sleep(60 * time.Second)
			w.figures(t, what+", twice the target", 2*60, 0.93, 0.015)
			cancel()
			wg.Wait()
		})
	}
}

// Two processes know nothing of each other.
func TestTwoGovernorsShareAPartition(t *testing.T) {
	for _, c := range []struct {
		later        time.Duration
		transactions bool
	}{{0, false}, {3333 * time.Millisecond, false}, {0, true}} {
		synctest.Test(t, func(t *testing.T) {
			w := new(window)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			start := func() *atomic.Int64 {
				_, transport := governed(t, nil, w.Do)
				return work(ctx, &wg, transport, 64, func() *http.Request {
					if c.transactions {
						return changeset(ctx, http.MethodPut, "hot", 100)
					}
					return read(ctx, "hot")
				})
			}
			one := start()
			time.Sleep(c.later)
			two := start()
			what, size := "two governors with rows", int64(1)
			if c.transactions {
				what, size = "two governors with transactions", 100
			}
			time.Sleep(30 * time.Second)
			w.reset()
			before := []int64{one.Load(), two.Load()}
			time.Sleep(40 * time.Second)
			w.figures(t, what, 40, 0.93, 0.02)
			for i, done := range []int64{one.Load(), two.Load()} {
				figure(t, what+", one of them: share of the target", float64(size*(done-before[i]))/(40*partitionTarget), 0.4, 0.6)
			}
			cancel()
			wg.Wait()
		})
	}
}

func TestAnAbsurdRetryAfterIsIgnoredOrBounded(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"-7": 0, "0": 0, "": 0, "soon": 0, "1e9": 0,
		"Mon, 01 Jan 0001 00:00:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": 0, // without the date of the reply
		"60": time.Minute, "9223372036854775807": 5 * time.Minute, "99999999999999999999": 5 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
				if sent.Add(1) == 1 {
					return respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {value}}, busy), nil
				}
				return respond(http.StatusOK, nil, "{}"), nil
			})
			began := time.Now()
			for range 2 {
				assert.Equal(t, assert.ErrorOf(transport.Do(read(t.Context(), "hot"))), nil)
			}
			if waited := time.Since(began); waited < want || waited > want+100*time.Millisecond {
				t.Errorf("Retry-After: %q: waited %v, want %v", value, waited, want)
			}
		})
	}
}

func TestRequestsOfAllKindsStartSlowly(t *testing.T) {
	for name, request := range map[string]func(context.Context) *http.Request{
		"transactions of deletes": func(ctx context.Context) *http.Request { return changeset(ctx, http.MethodDelete, "p", 100) },
		"transactions of inserts": func(ctx context.Context) *http.Request { return changeset(ctx, http.MethodPut, "p", 100) },
		"pages": func(ctx context.Context) *http.Request {
			req := read(ctx, "p")
			req.URL.Path, req.URL.RawQuery = "/people()", "$filter=PartitionKey%20eq%20%27p%27"
			return req
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Millisecond)
				return respond(http.StatusOK, nil, `{"value":[`+strings.Repeat(`{"a":"b"},`, 99)+`{}]}`), nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			done := work(ctx, &wg, transport, 64, func() *http.Request { return request(ctx) })
			// 100 entities, and 500 per second: in 0.3 s not more than 100 + 50 + 100 + 200.
			if n := during(300*time.Millisecond, done.Load); n < 1 || n > 6 {
				t.Errorf("%s: %v requests of 100 entities in the first 0.3 s", name, n)
			}
			// Up to the documented target, 2,000 per second.
			if n := during(300*time.Millisecond, done.Load); n < 6 {
				t.Errorf("%s: %v requests in the next 0.3 s", name, n)
			}
			cancel()
			wg.Wait()
		})
	}
}

func TestAKeyHasOneLimitHoweverItIsEscaped(t *testing.T) {
	g, transport := governed(t, nil, func(*http.Request) (*http.Response, error) { return respond(http.StatusOK, nil, "{}"), nil })
	insert := changeset(t.Context(), http.MethodPut, "", 0)
	insert.URL.Path, insert.Body = "/people", endless{strings.NewReader(`{"PartitionKey":"a'b \u00e9%+","RowKey":"r"}`)}
	for _, req := range []*http.Request{
		insert,
		read(t.Context(), "a''b%20%C3%A9%25%2B"),
		read(t.Context(), "a%27%27b%20%C3%A9%25+"),
		changeset(t.Context(), http.MethodDelete, "a''b%20%C3%A9%25%2B", 3),
		changeset(t.Context(), http.MethodDelete, "a%27%27b%20%c3%a9%25+", 3),
	} {
		assert.NoError(t, assert.ErrorOf(transport.Do(req)))
		assert.Equal(t, g.Limiters(), 2, "limits, want one for the partition and one for the account", req.URL)
	}
}

// A request without a reply has used a part of the limit, and nothing else.
func TestARequestThatNeverGetsAReplyDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		_, transport := governed(t, nil, func(req *http.Request) (*http.Response, error) {
			if sent.Add(1) <= 50 {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			return respond(http.StatusOK, nil, "{}"), nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { _, _ = transport.Do(read(ctx, "p")) })
		}
		synctest.Wait()
		began := time.Now()
		for range 300 {
			assert.Equal(t, assert.ErrorOf(transport.Do(read(t.Context(), "p"))), nil)
		}
		if waited := time.Since(began); waited > 600*time.Millisecond { // 250 beyond the first 100, at 500 per second
			t.Errorf("300 requests took %v", waited)
		}
		cancel()
		wg.Wait()
	})
}
