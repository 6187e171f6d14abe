package regions_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestReadsReturnToThePrimaryStepByStep(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(0))
		w.account.Down(storagetest.Primary)
		read := func(d time.Duration) (primary, all float64) {
			w.reset()
			var group sync.WaitGroup
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				all++
				group.Go(func() { assert.MayFail(w.table.Get(t.Context(), r.key())) })
			}
			group.Wait()
			return float64(w.sent[toPrimary].Load()), all
		}
		read(time.Second)
		if primary, all := read(time.Minute); primary > 8 {
			t.Errorf("%v of %v reads probed a primary that is down", primary, all)
		}
		w.account.Down()
		primary, back := 0.0, 0
		for back = 0; primary == 0 && back < 40; back++ {
			primary, _ = read(time.Second)
		}
		shares := []float64{primary / 200}
		for range 5 {
			primary, all := read(time.Second)
			shares = append(shares, primary/all)
		}
		t.Logf("the primary was found to be up after %d s; shares of reads in the seconds after that: %.2f", back, shares)
		for i, most := range []float64{0.08, 0.14, 0.27, 0.52, 1, 1} {
			if shares[i] > most {
				t.Errorf("a share of %.2f of all reads after %d s", shares[i], i)
			}
		}
		if shares[5] < 1 {
			t.Error("not all reads returned")
		}
		item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
		assert.Equal(t, item.Region, regions.Primary, "read from the")
		time.Sleep(10 * time.Second)
	})
}

func TestNoReadFailsDuringAnOutage(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(0))
		w.warm(t, r, 100)
		var failed, all atomic.Int64
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for range 500 {
					all.Add(1)
					if get(t.Context(), w, r) != nil {
						failed.Add(1)
					}
				}
			})
		}
		time.Sleep(time.Second)
		w.account.Down(storagetest.Primary)
		time.Sleep(2 * time.Second)
		w.account.Down()
		group.Wait()
		t.Logf("%d of %d reads failed during an outage of the primary", failed.Load(), all.Load())
		if failed.Load() > 0 {
			t.Error("reads failed")
		}
		time.Sleep(10 * time.Second)
	})
}

func TestTheSDKWaitsAsThePrimaryDemandsIfTheSecondaryFailsToo(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Secondary)
		busy := harness.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := w.send(req)
			if err == nil && w.sent[toPrimary].Load() == 1 {
				_ = resp.Body.Close()
				resp.StatusCode, resp.Body = http.StatusServiceUnavailable, io.NopCloser(bytes.NewReader(nil))
				resp.Header.Set("Retry-After", "7")
			}
			return resp, err
		})
		client := harness.Open(t, w.account.ConnectionString(), "Rows", false, attached(w.pair, busy))
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		began := time.Now()
		assert.Must(table.Get(policy.WithRetryOptions(t.Context(), policy.RetryOptions{}), r.key()))(t)
		assert.Equal(t, time.Since(began), 7*time.Second, "took")
	})
}

func TestAThrottledReadUsesTheSecondaryAndIsNoOutage(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		if err := w.account.Fault(storagetest.On("Table.Get").Times(10).Where(func(q storagetest.Request) bool { return q.Region == storagetest.Primary }).Status(503, "ServerBusy")); err != nil {
			t.Fatal(err)
		}
		for range 11 {
			assert.NoError(t, get(t.Context(), w, r))
		}
		w.wantRequests(t, 11, 10, 1)
	})
}

func TestCancellationEndsBothRequests(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		stats := int64(1)
		for _, probe := range []bool{false, true} {
			if probe {
				w.account.Down(storagetest.Primary)
				for range 3 {
					assert.NoError(t, get(t.Context(), w, r))
				}
				time.Sleep(2 * time.Second)
			}
			w.reset()
			w.take(func(regions.Region) time.Duration { return time.Hour })
			ctx, cancel := context.WithCancel(t.Context())
			began := time.Now()
			time.AfterFunc(5*time.Second, cancel)
			assert.WantError(t, get(ctx, w, r), context.Canceled)
			assert.Equal(t, time.Since(began), 5*time.Second, "took")
			synctest.Wait()
			assert.Equal(t, w.running.Load(), 0, "requests still run")
			w.wantRequests(t, 1, 1, stats)
			stats = 0 // not again within a few seconds
			w.take(network(0))
		}
	})
}

func TestTheBodyOfEveryReplyIsClosed(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(10))
		w.late.Store(true)
		assert.NoError(t, w.account.Fault(storagetest.On("Table.Get").Probability(0.2).Times(storagetest.Forever).Status(503, "ServerBusy")))
		for range 1000 {
			assert.MayFail(w.table.Get(t.Context(), r.key()))
		}
		for _, err := range w.table.Query(t.Context(), query.PartitionKey.Eq("p00"), nil) {
			assert.NoError(t, err)
		}
		time.Sleep(10 * time.Second)
		assert.Equal(t, w.bodies.Load(), 0, "bodies of replies were not closed")
	})
}

func TestBothRegionsSlowIsAsSlowAsTheFaster(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(func(region regions.Region) time.Duration {
			if region == regions.Primary {
				return 20 * time.Second
			}
			return 30 * time.Second
		})
		began := time.Now()
		item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
		if took := time.Since(began); took != 20*time.Second || item.Region != regions.Primary {
			t.Errorf("%s took %v", item.Region, took)
		}
	})
}

func TestAgesAreComputedByTheClockOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, true, &storagetest.Options{ClockSkew: skew})
			r := w.insert(t, 1, 1)[0]
			w.replicate()
			w.account.Down(storagetest.Primary)
			time.Sleep(30 * time.Second)
			item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
			if want := lag + 30*time.Second; item.MaxAge < want || item.MaxAge > want+2*time.Second {
				t.Errorf("skew %v: max age %v, want %v", skew, item.MaxAge, want)
			}
		})
	}
}

func TestTheLastSyncTimeIsRequestedSeldomAndNeverEndsARead(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		for range 60 {
			assert.NoError(t, get(t.Context(), w, r))
			time.Sleep(time.Second)
		}
		assert.Equal(t, w.sent[forStats].Load(), 4, "requests for statistics in a minute")
		assert.NoError(t, w.account.Fault(storagetest.On("Table.Stats").Times(storagetest.Forever).Delay(time.Hour)))
		began := time.Now()
		for range 15 {
			item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
			if age := time.Since(began) + lag; item.MaxAge < age || item.MaxAge > age+time.Minute+20*time.Second {
				t.Errorf("max age %v", item.MaxAge)
			}
		}
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("15 reads took %v", took)
		}
		w.pair = new(regions.Pair) // without a service
		client := harness.Open(t, w.account.ConnectionString(), "Rows", false, attached(w.pair, harness.Transport(w.send)))
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		item := assert.Must(table.Get(t.Context(), r.key()))(t)
		assert.Equal(t, item.Region, regions.Secondary)
		assert.Equal(t, item.MaxAge, regions.UnknownAge)
		_, err := table.Get(t.Context(), row{PartitionKey: "p", RowKey: "none"}.key())
		var absent *regions.AbsentError
		if !errors.As(err, &absent) || absent.MaxAge != regions.UnknownAge {
			t.Errorf("error %v", err)
		}
		time.Sleep(10 * time.Second)
	})
}

// Three reads in succession that a governor does not send, or does not try again.
func TestRequestsThatAGovernorHoldsAreNoOutage(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		governor := assert.Must(govern.New(&govern.Options{RetryShare: -1}))(t)
		busy := atomic.Bool{}
		var o azcore.ClientOptions
		o.Transport = harness.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := w.send(req)
			if err == nil && busy.Load() && !strings.Contains(req.URL.Host, "-secondary") {
				_ = resp.Body.Close()
				resp.StatusCode, resp.Body = http.StatusServiceUnavailable, io.NopCloser(bytes.NewReader(nil))
				resp.Header.Set("Retry-After", "20")
			}
			return resp, err
		})
		governor.Attach(&o)
		client := harness.Open(t, w.account.ConnectionString(), "Rows", false, attached(w.pair, o.Transport))
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		busy.Store(true)
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			item := assert.Must(table.Get(ctx, r.key()))(t)
			cancel()
			assert.Equal(t, item.Region, regions.Secondary, "read from the")
		}
		w.wantRequests(t, 1, 10, 1)
		busy.Store(false)
		time.Sleep(time.Minute)
		assert.Equal(t, assert.Must(table.Get(t.Context(), r.key()))(t).Region, regions.Primary, "read from the")
		w.wantRequests(t, 1, 0, 0) // not a probe
	})
}

// Each page takes longer than the time after which a region may have failed.
func TestAScanWaitsForPagesThatTakeLongInBothRegions(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		all := w.insert(t, 2, 6)
		w.replicate()
		w.take(func(regions.Region) time.Duration { return 5 * time.Second })
		var got []row
		for page, err := range w.table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 2}) {
			assert.NoError(t, err)
			for _, item := range page.Items {
				got = append(got, item.Value)
			}
		}
		wantOnce(t, query.Filter{}, all, nil, got)
		time.Sleep(time.Minute)
	})
}

func TestASecondaryThatDoesNotReplyEndsNoCursor(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		all := w.insert(t, 1, 8)
		w.replicate()
		f, opts := query.PartitionKey.Eq("p00"), &patterns.QueryOptions{PageSize: 2}
		w.account.Down(storagetest.Primary)
		page := assert.Must(w.table.Page(t.Context(), f, "", opts))(t)
		var scanned string
		for page, err := range w.table.Scan(t.Context(), f, "", &patterns.QueryOptions{PageSize: 2, Parallel: 1}) {
			assert.NoError(t, err)
			scanned = page.Cursor
			break
		}
		w.account.Down()
		w.take(func(region regions.Region) time.Duration {
			if region == regions.Secondary {
				return time.Hour
			}
			return 10 * time.Millisecond
		})
		time.Sleep(10 * time.Second)
		for range 600 { // until the reads have returned to the primary
			assert.MayFail(w.table.Get(t.Context(), all[0].key()))
			time.Sleep(100 * time.Millisecond)
		}
		began := time.Now()
		page = assert.Must(w.table.Page(t.Context(), f, page.Cursor, opts))(t)
		assert.Equal(t, page.Region, regions.Primary)
		assert.Equal(t, page.Items[0].Value, all[2])
		n := 0
		for page, err := range w.table.Scan(t.Context(), f, scanned, &patterns.QueryOptions{PageSize: 2, Parallel: 1}) {
			assert.NoError(t, err)
			n += len(page.Items)
		}
		if took := time.Since(began); n != 6 || took > 3*time.Second {
			t.Errorf("%d rows of the scan in %v", n, took)
		}
	})
}

// An account that gets a new secondary after a failover reports no Last Sync Time until that has all
// rows.
func TestAnAgeIsUnknownWhileANewSecondaryIsFilled(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		var filling atomic.Bool
		send := harness.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := w.send(req)
			if err == nil && filling.Load() && strings.Contains(req.URL.RawQuery, "comp=stats") {
				_ = resp.Body.Close()
				resp.Body = io.NopCloser(strings.NewReader(`<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication><Status>bootstrap</Status><LastSyncTime></LastSyncTime></GeoReplication></StorageServiceStats>`))
			}
			return resp, err
		})
		opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: attached(w.pair, send)}}
		w.pair.Use(assert.Must(aztables.NewServiceClientFromConnectionString(w.account.ConnectionString(), opts))(t))
		w.account.Down(storagetest.Primary)
		for _, unknown := range []bool{false, true, false} {
			filling.Store(unknown)
			time.Sleep(15 * time.Second)
			if item := assert.Must(w.table.Get(t.Context(), r.key()))(t); item.Region != regions.Secondary || (item.MaxAge == regions.UnknownAge) != unknown {
				t.Errorf("%+v, want an unknown age: %v", item.Source, unknown)
			}
		}
	})
}

func TestCancellationEndsAPageAndItsHedge(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.insert(t, 1, 100)
		w.replicate()
		f, opts := query.PartitionKey.Eq("p00"), &patterns.QueryOptions{PageSize: 2}
		w.take(network(0))
		var cursor string
		for range 64 {
			cursor = assert.Must(w.table.Page(t.Context(), f, "", opts))(t).Cursor
		}
		hedged := 0
		for range 20 {
			w.take(func(regions.Region) time.Duration { return time.Hour })
			w.reset()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			_, err := w.table.Page(ctx, f, cursor, opts)
			cancel()
			assert.WantError(t, err, context.DeadlineExceeded)
			synctest.Wait()
			if n := w.running.Load() - w.sent[forStats].Load(); n > 0 {
				t.Errorf("%d requests still run", n)
			}
			if w.sent[toSecondary].Load()+w.sent[forStats].Load() > 0 {
				hedged++
			}
			w.take(network(0))
			time.Sleep(10 * time.Second)
			for range 20 {
				cursor = assert.Must(w.table.Page(t.Context(), f, "", opts))(t).Cursor
			}
		}
		if hedged == 0 {
			t.Error("no page was hedged")
		}
	})
}

// A probe may fail after the primary has answered an earlier read, and all reads have returned to it.
func TestAProbeThatFailsAfterTheOutageIsAFailureLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, false, nil)
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		slow := make(chan struct{})
		var sent atomic.Int64
		send := harness.Transport(func(req *http.Request) (*http.Response, error) {
			if !strings.Contains(req.URL.Host, "-secondary") {
				switch sent.Add(1) {
				case 1:
					<-slow
					req = req.WithContext(context.WithoutCancel(req.Context())) // the reply comes although another region has answered
				case 2, 3, 4:
					return nil, errors.New("no reply")
				case 5: // the probe
					<-req.Context().Done()
					return nil, req.Context().Err()
				}
			}
			return w.account.Transport().Do(req)
		})
		client := harness.Open(t, w.account.ConnectionString(), "Rows", false, attached(w.pair, send))
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		var first sync.WaitGroup
		first.Go(func() { assert.Must(table.Get(t.Context(), r.key()))(t) })
		synctest.Wait()
		for sent.Load() < 5 {
			assert.Must(table.Get(t.Context(), r.key()))(t)
			time.Sleep(time.Second)
		}
		close(slow)
		first.Wait()
		for range 10 {
			assert.Must(table.Get(t.Context(), r.key()))(t)
			time.Sleep(time.Second)
		}
		assert.Equal(t, assert.Must(table.Get(t.Context(), r.key()))(t).Region, regions.Primary, "read from the")
		time.Sleep(10 * time.Second)
	})
}
