package regions_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestAReadUsesTheSecondaryIfThePrimaryIsDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
		assert.Equal(t, item.Source, regions.Source{Region: regions.Primary}, "source", "of a read from the primary")
		w.wantRequests(t, 1, 0, 0)
		w.account.Down(storagetest.Primary)
		for i := range 10 {
			item = assert.Must(w.table.Get(t.Context(), r.key()))(t)
			if item.Region != regions.Secondary || item.MaxAge < lag || item.MaxAge > lag+2*time.Second || item.Value != r {
				t.Errorf("read %d: %+v", i, item)
			}
		}
		// The first three reads find out that the primary is down.
		w.wantRequests(t, 3, 10, 1)
	})
}

func TestThePrimarysErrorIsReturnedIfBothRegionsAreDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Fault(storagetest.On("Table.Get").Times(storagetest.Forever).Where(func(q storagetest.Request) bool { return q.Region == storagetest.Primary }).Status(500, "InternalError"))
		w.account.Down(storagetest.Secondary)
		_, err := w.table.Get(t.Context(), r.key())
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || refused.StatusCode != http.StatusInternalServerError {
			t.Errorf("error %v", err)
		}
		w.account.Down(storagetest.Primary, storagetest.Secondary)
		w.account.ClearFaults()
		var lost *storagetest.LostError
		if _, err := w.table.Get(t.Context(), r.key()); !errors.As(err, &lost) {
			t.Errorf("error %v", err)
		}
		w.account.Down()
		assert.NoError(t, get(t.Context(), w, r))
	})
}

// A proxy of one region redirects every read, before the other region replies.
func TestARedirectDoesNotAnswerARead(t *testing.T) {
	for _, redirected := range []regions.Region{regions.Primary, regions.Secondary} {
		for _, status := range []int{http.StatusFound, http.StatusNotModified, http.StatusPermanentRedirect} {
			for _, accelerated := range []bool{false, true} {
				t.Run(fmt.Sprint(redirected, " ", status, " ", accelerated), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { redirect(t, redirected, status, accelerated) })
				})
			}
		}
	}
}

func redirect(t *testing.T, redirected regions.Region, status int, accelerated bool) {
	w := open(t, accelerated, nil)
	r := w.insert(t, 1, 1)[0]
	w.replicate()
	var redirects atomic.Int64
	send := harness.Transport(func(req *http.Request) (*http.Response, error) {
		resp, err := w.send(req)
		switch {
		case err != nil || req.URL.Query().Get("comp") == "stats":
		case strings.Contains(req.URL.Host, "-secondary") != (redirected == regions.Secondary):
			time.Sleep(3 * time.Second) // so that the other region is asked too
		default:
			redirects.Add(1)
			_ = resp.Body.Close()
			resp.StatusCode, resp.Body = status, http.NoBody
			resp.Header.Set("Location", "https://elsewhere.invalid/")
		}
		return resp, err
	})
	client := harness.Open(t, w.account.ConnectionString(), "Rows", accelerated, attached(w.pair, send))
	table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
	for i := range 5 {
		got, err := table.Get(t.Context(), r.key())
		if err != nil || got.Value != r || got.Region == redirected {
			t.Errorf("read %d: %+v, %v", i, got, err)
		}
	}
	if redirects.Load() == 0 {
		t.Error("no read was redirected")
	}
}

func TestARowThatIsOnlyMissingOnTheSecondaryIsNotReportedAsNotFound(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.replicate()
		late := w.insert(t, 1, 1)[0] // after the Last Sync Time
		w.account.Down(storagetest.Primary)
		for range 5 { // while the primary is found to be down, and after
			_, err := w.table.Get(t.Context(), late.key())
			var absent *regions.AbsentError
			var refused *azcore.ResponseError
			if !errors.As(err, &absent) || errors.Is(err, patterns.ErrNotFound) || !errors.As(err, &refused) {
				t.Fatalf("error %v", err)
			}
			if absent.MaxAge < lag || absent.MaxAge > lag+20*time.Second { // the SDK tried again until the primary was down
				t.Errorf("max age %v", absent.MaxAge)
			}
			assert.WantHidden(t, err, late.PartitionKey, late.RowKey)
		}
		w.account.Down()
		missing := row{PartitionKey: "p", RowKey: "none"}
		time.Sleep(time.Minute)
		assert.NoError(t, get(t.Context(), w, late))
		time.Sleep(time.Minute)
		assert.WantError(t, get(t.Context(), w, missing), patterns.ErrNotFound)
	})
}

func TestStrictReadsAndWritesNeverUseTheSecondary(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		assert.Failed(t, get(regions.Strict(t.Context()), w, r), "a strict read was answered")
		assert.Failed(t, assert.ErrorOf(w.rows.Get(t.Context(), r.key())), "a read of patterns.Table was answered")
		ctx, report := regions.Permit(t.Context())
		assert.Failed(t, assert.ErrorOf(w.rows.Update(ctx, r.key(), func(r *row) error { r.N++; return nil })), "a write was accepted")
		assert.Equal(t, report.Source().Region, regions.Secondary, "the row was read from")
		for _, q := range w.account.Log() {
			if q.Region == storagetest.Secondary && q.Op != "Table.Get" && q.Op != "Table.Stats" {
				t.Errorf("the secondary received %v", q)
			}
		}
		assert.Equal(t, w.sent[toSecondary].Load(), 1, "reads of the secondary, want that of Update before its write")
		ctx, report = regions.Permit(regions.Strict(t.Context()))
		if _, err := w.rows.Get(ctx, r.key()); err == nil || report.Source() != (regions.Source{}) {
			t.Error("Permit within Strict had an effect")
		}
	})
}

func TestAConditionalWriteBasedOnAStaleReadIsAConflict(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		assert.Must(w.rows.Update(t.Context(), r.key(), func(r *row) error { r.N = 7; return nil }))(t)
		w.account.Down(storagetest.Primary)
		stale := assert.Must(w.table.Get(t.Context(), r.key()))(t)
		w.account.Down()
		assert.Equal(assert.Now(t), stale.Value.N, 0)
		assert.Equal(assert.Now(t), stale.Region, regions.Secondary)
		_, err := w.rows.Replace(t.Context(), stale.Item)
		assert.WantError(t, err, patterns.ErrConflict)
		time.Sleep(lag)
		w.account.Down(storagetest.Primary)
		current := assert.Must(w.table.Get(t.Context(), r.key()))(t)
		w.account.Down()
		assert.Must(w.rows.Replace(t.Context(), current.Item))(t)
	})
}

func TestAMissingRowOfTheSecondaryIsNoAnswerWhileThePrimaryIsUp(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.replicate()
		late := w.insert(t, 1, 1)[0]
		w.reset()
		busy := storagetest.On("Table.Get").Where(func(q storagetest.Request) bool { return q.Region == storagetest.Primary })
		assert.NoError(t, w.account.Fault(busy.Times(2).Status(503, "ServerBusy")))
		item := assert.Must(w.table.Get(t.Context(), late.key()))(t)
		assert.Equal(t, item.Region, regions.Primary, "read from the")
		w.wantRequests(t, 3, 2, 1)
		w.account.ClearFaults()
		assert.NoError(t, w.account.Fault(busy.Times(storagetest.Forever).Status(503, "ServerBusy")))
		_, err := w.table.Get(t.Context(), late.key())
		assert.WantError(t, err, patterns.ErrThrottled)
		w.account.ClearFaults()
		w.take(func(region regions.Region) time.Duration {
			if region == regions.Primary {
				return 5 * time.Second
			}
			return 0
		})
		item = assert.Must(w.table.Get(t.Context(), late.key()))(t) // hedged
		assert.Equal(t, item.Region, regions.Primary, "read from the")
	})
}

func TestTheAddressOfATableIsThatOfThePrimary(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		rows := assert.Must(patterns.NewTable[row](w.service.NewClient("Rows"), nil))(t)
		assert.Must(assert.Must(regions.NewTable(rows, nil))(t).Get(t.Context(), r.key()))(t)
		if url, ok := rows.URL(); !ok || url != storagetest.TablesURL+"/Rows" {
			t.Errorf("the address is %q", url)
		}
	})
}

func TestNoWriteReachesTheSecondaryHoweverOftenTheSDKTriesAgain(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 2)[0]
		item := assert.Must(w.rows.Get(t.Context(), r.key()))(t)
		w.replicate()
		ctx, report := regions.Permit(policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: 3}))
		writes := map[string]func() error{
			"Insert":  func() error { return assert.ErrorOf(w.rows.Insert(ctx, &row{"p", "new", 1})) },
			"Upsert":  func() error { return assert.ErrorOf(w.rows.Upsert(ctx, &r, patterns.Replace)) },
			"Replace": func() error { return assert.ErrorOf(w.rows.Replace(ctx, item)) },
			"Delete":  func() error { return w.rows.Delete(ctx, r.key(), item.ETag) },
			"Bulk": func() error {
				return assert.ErrorOf(w.rows.Bulk(ctx, slices.Values([]patterns.Op[row]{patterns.UpsertOp(&r, patterns.Replace)}), nil))
			},
			"Create": func() error { return w.rows.Create(ctx) },
			"Drop":   func() error { return w.rows.Drop(ctx) },
			"AddEntity of aztables": func() error {
				return assert.ErrorOf(w.service.NewClient("Rows").AddEntity(ctx, []byte(`{"PartitionKey":"p","RowKey":"new"}`), nil))
			},
		}
		for name, write := range writes {
			for _, refused := range []bool{false, true} {
				if refused {
					w.account.Down()
					assert.NoError(t, w.account.Fault(storagetest.On("Table.*").Times(storagetest.Forever).Status(500, "InternalError")))
				} else {
					w.account.Down(storagetest.Primary)
				}
				if write() == nil {
					t.Errorf("%s succeeded", name)
				}
				if n := w.sent[toPrimary].Load(); n < 4 {
					t.Errorf("%s was tried %d times", name, n)
				}
				if n := w.sent[toSecondary].Load(); n > 0 || report.Source().Region == regions.Secondary {
					t.Errorf("%s sent %d requests to the secondary", name, n)
				}
				w.account.ClearFaults()
				w.reset()
			}
		}
	})
}

func TestATableThatTheSecondaryDoesNotHaveYetIsNoEmptyTable(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.replicate()
		late := assert.Must(patterns.NewTable[row](w.service.NewClient("Late"), nil))(t)
		assert.NoError(t, late.Create(t.Context()))
		r := row{"p00", "r", 1}
		assert.Must(late.Insert(t.Context(), &r))(t)
		table := assert.Must(regions.NewTable(late, nil))(t)
		f := query.PartitionKey.Eq("p00")
		reads := func() map[string]error {
			_, get := table.Get(t.Context(), r.key())
			_, page := table.Page(t.Context(), f, "", nil)
			var list, scan error
			for _, list = range table.Query(t.Context(), f, nil) {
			}
			for _, scan = range table.Scan(t.Context(), f, "", nil) {
			}
			return map[string]error{"Get": get, "Page": page, "Query": list, "Scan": scan}
		}
		// The primary is slow: the hedge, which finds no table, does not end the read.
		w.take(func(region regions.Region) time.Duration {
			if region == regions.Primary {
				return 3 * time.Second
			}
			return time.Millisecond
		})
		for name, err := range reads() {
			assert.Equal(t, err, nil, name, "with a slow primary")
		}
		w.take(func(regions.Region) time.Duration { return time.Millisecond })
		w.account.Down(storagetest.Primary)
		for name, err := range reads() {
			if err == nil || errors.Is(err, patterns.ErrTableNotFound) || errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s without a primary: %v", name, err)
			}
			// Scan ends with the failure of the primary.
			var absent *regions.AbsentError
			if ok := errors.As(err, &absent); ok != (name != "Scan") || ok && absent.MaxAge < lag {
				t.Errorf("%s without a primary: %v", name, err)
			}
		}
		time.Sleep(time.Minute)
	})
}

func TestAReadWhoseLastSyncTimeIsRefusedHasAnUnknownAge(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		address := assert.Must(w.service.GetAccountSASURL(aztables.AccountSASResourceTypes{Object: true}, aztables.AccountSASPermissions{Read: true}, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))(t)
		opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: attached(w.pair, harness.Transport(w.send))}}
		w.pair.Use(assert.Must(aztables.NewServiceClientWithNoCredential(address, opts))(t)) // not for the service
		w.account.Down(storagetest.Primary)
		for range 20 {
			began := time.Now()
			item := assert.Must(w.table.Get(t.Context(), r.key()))(t)
			if item.Region != regions.Secondary || item.MaxAge != regions.UnknownAge || time.Since(began) > 0 {
				t.Errorf("%+v after %v", item.Source, time.Since(began))
			}
			time.Sleep(time.Second)
		}
		assert.Equal(t, w.sent[forStats].Load(), 2, "requests for statistics in 20 seconds")
		w.pair.Use(w.service)
		time.Sleep(15 * time.Second)
		if item := assert.Must(w.table.Get(t.Context(), r.key()))(t); item.MaxAge < lag || item.MaxAge == regions.UnknownAge {
			t.Errorf("%+v", item.Source)
		}
	})
}

// TestAttachmentsWorkInEachOrder attaches the pair, a meter and a governor in each order. Only what
// the meter and the governor see depends on it.
func TestAttachmentsWorkInEachOrder(t *testing.T) {
	for _, order := range []string{"meter governor pair", "governor meter pair", "pair meter governor", "pair governor meter", "meter pair governor", "governor pair meter", "meter governor pair pair"} {
		for _, accelerate := range []string{"never", "first", "last"} {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, false, nil)
				r := w.insert(t, 1, 2)[0]
				w.replicate()
				w.account.Down(storagetest.Primary)
				meter, governor := assert.Must(heat.NewMeter(nil))(t), assert.Must(govern.New(nil))(t)
				attach := map[string]func(*azcore.ClientOptions){"meter": meter.Attach, "governor": governor.Attach, "pair": new(regions.Pair).Attach}
				opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: harness.Transport(w.send)}}
				if accelerate == "first" {
					patterns.Accelerate(&opts.ClientOptions)
				}
				for name := range strings.FieldsSeq(order) {
					attach[name](&opts.ClientOptions)
				}
				if accelerate == "last" {
					patterns.Accelerate(&opts.ClientOptions)
				}
				service := assert.Must(aztables.NewServiceClientFromConnectionString(w.account.ConnectionString(), opts))(t)
				table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](service.NewClient("Rows"), nil))(t), nil))(t)
				for range 10 {
					if item, err := table.Get(t.Context(), r.key()); err != nil || item.Region != regions.Secondary || item.Value != r {
						t.Errorf("%s, Accelerate %s: %+v, %+v", order, accelerate, item, err)
					}
				}
				if page, err := table.Page(t.Context(), query.PartitionKey.Eq("p00"), "", nil); err != nil || page.Region != regions.Secondary || len(page.Items) != 2 {
					t.Errorf("%s, Accelerate %s: %+v, %+v", order, accelerate, page, err)
				}
				if meter.Snapshot().Resources["tRows"].Transactions == 0 {
					t.Errorf("%s, Accelerate %s: the meter counted nothing", order, accelerate)
				}
				time.Sleep(time.Minute)
			})
		}
	}
}
