package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheSDKWorksOnTheAccount(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	client := table(t, acct, "people")
	assert.NoError(t, assert.ErrorOf(client.AddEntity(ctx, entity(t, "p", "0"), nil)))
	_, err := client.AddEntity(ctx, entity(t, "p", "0"), nil)
	wantCode(t, err, 409, "EntityAlreadyExists")
	var acts []aztables.TransactionAction
	for i := 1; i <= 100; i++ {
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity(t, "p", fmt.Sprint(i))})
	}
	assert.NoError(t, assert.ErrorOf(client.SubmitTransaction(ctx, acts, nil)))
	assert.Failed(assert.Now(t), assert.ErrorOf(client.SubmitTransaction(ctx, acts[:2], nil)), "a transaction of rows that exist succeeded")
	got, err := client.GetEntity(ctx, "p", "7", nil)
	assert.NoError(t, err)
	if _, err := client.UpdateEntity(ctx, entity(t, "p", "7"), &aztables.UpdateEntityOptions{IfMatch: &got.ETag, UpdateMode: aztables.UpdateModeReplace}); err != nil {
		t.Fatal(err)
	}
	_, err = client.DeleteEntity(ctx, "p", "7", &aztables.DeleteEntityOptions{IfMatch: &got.ETag})
	wantCode(t, err, 412, "UpdateConditionNotSatisfied")
	assert.NoError(t, assert.ErrorOf(client.DeleteEntity(ctx, "p", "7", nil)))
	if keys, pages := rowKeys(t, client, nil); len(keys) != 100 || pages != 1 {
		t.Errorf("%d rows in %d pages", len(keys), pages)
	}
	assert.Equal(t, assert.ErrorOf(acct.Tables().GetProperties(ctx, nil)), nil)

	log := acct.Log()
	batch := log.Only("Table.Batch")
	if len(batch) != 2 || batch[0].Resource != "people" || len(batch[0].Rows) != 100 || batch[0].Written != 100 || batch[0].Code != "" {
		t.Errorf("%v", batch)
	}
	if q := batch[1]; q.Status != 202 || q.Inner != 409 || q.Code != "EntityAlreadyExists" || q.Written != 0 {
		t.Errorf("%v", q)
	}
	if q := log.Only("Table.Query")[0]; q.Returned != 100 || q.Scanned != 100 || q.ReplyBytes == 0 {
		t.Errorf("%v", q)
	}
}

func TestAReplacedTableIsBlockedFor40VirtualSeconds(t *testing.T) {
	documented(t) // the shortest time
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		acct := storagetest.New(t)
		client := table(t, acct, "people")
		assert.NoError(t, assert.ErrorOf(client.Delete(ctx, nil)))
		start := time.Now()
		for {
			_, err := client.CreateTable(ctx, nil)
			if err == nil {
				break
			}
			wantCode(t, err, 409, "TableBeingDeleted")
			time.Sleep(time.Second)
		}
		assert.Equal(t, time.Since(start), 40*time.Second, "blocked for")
	})
}

func TestRetriesOfTheSDKTakeNoRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		client := table(t, acct, "people")
		acct.Fault(storagetest.On("Table.Insert").Nth(1).Status(503, "ServerBusy"), storagetest.On("Table.Insert").Nth(2).LoseReply())
		start := time.Now()
		_, err := client.AddEntity(t.Context(), entity(t, "p", "r"), nil)
		wantCode(t, err, 409, "EntityAlreadyExists") // an earlier attempt had inserted the row
		if acct.Log().Count("Table.Insert") != 3 || time.Since(start) < time.Second {
			t.Errorf("after %v\n%v", time.Since(start), acct.Log())
		}
	})
}

func TestTheTransportCallsHTTPTraceLikeNetHTTP(t *testing.T) {
	acct := storagetest.New(t)
	client := table(t, acct, "people")
	conns, writes, replies := 0, 0, 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { conns++ },
		WroteRequest: func(httptrace.WroteRequestInfo) { writes++ },

		GotFirstResponseByte: func() { replies++ },
	})
	assert.NoError(t, assert.ErrorOf(client.AddEntity(ctx, entity(t, "p", "r"), nil)))
	if conns != 1 || writes != 1 || replies != 1 {
		t.Errorf("%d connections, %d writes, %d replies", conns, writes, replies)
	}
}

func TestARequestWithAnEndedContextIsNotCarriedOut(t *testing.T) {
	acct := storagetest.New(t)
	client := table(t, acct, "people")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.WantError(t, assert.ErrorOf(client.AddEntity(ctx, entity(t, "p", "r"), nil)), context.Canceled)
	if keys, _ := rowKeys(t, client, nil); len(keys) != 0 {
		t.Errorf("%v", keys)
	}
}

func TestOptionsLimitEveryPage(t *testing.T) {
	for _, opts := range []storagetest.Options{{PageRows: 2}, {PageScan: 3}, {PageBoundary: true}} {
		acct := storagetest.Start(&opts)
		client := table(t, acct, "people")
		put(t, client, "a", "1", "2", "3")
		put(t, client, "b", "4", "5", "6")
		keys, pages := rowKeys(t, client, &aztables.ListEntitiesOptions{Filter: to.Ptr("RowKey ne '2'")})
		if !slices.Equal(keys, []string{"1", "3", "4", "5", "6"}) || pages < 2 {
			t.Errorf("%+v: %v in %d pages", opts, keys, pages)
		}
	}
}

func TestShortAndEmptyPagesOnDemand(t *testing.T) {
	for _, rule := range []storagetest.Rule{
		storagetest.On("Table.Query").ShortPage(2), storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.Query").CutPage(1),
		storagetest.On("Table.Query").BoundaryPage(), storagetest.On("Table.Query").EmptyPage().ShortPage(1),
	} {
		acct := storagetest.New(t)
		client := table(t, acct, "people")
		put(t, client, "a", "1", "2", "3")
		put(t, client, "b", "4", "5", "6")
		acct.Fault(rule)
		keys, pages := rowKeys(t, client, &aztables.ListEntitiesOptions{Filter: to.Ptr("RowKey ge '3'")})
		if !slices.Equal(keys, []string{"3", "4", "5", "6"}) || pages < 2 {
			t.Errorf("%v: %v in %d pages", rule, keys, pages)
		}
	}
}

// countingPolicy is a policy in the caller's options of a client.
type countingPolicy struct{ n *int }

func (p countingPolicy) Do(req *policy.Request) (*http.Response, error) {
	*p.n++
	return req.Next()
}

func TestTheOptionsOfTheCallerAreNotChanged(t *testing.T) {
	acct := storagetest.New(t)
	n := 0
	var opts aztables.ClientOptions
	opts.Retry.MaxRetries = -1
	opts.PerRetryPolicies = []policy.Policy{countingPolicy{&n}}
	client := acct.TablesWith(&opts).NewClient("people")
	assert.Equal(t, opts.Transport, nil, "the caller's options were changed")
	acct.Fault(storagetest.On("*").LoseRequest())
	_, err := client.CreateTable(t.Context(), nil)
	var lost *storagetest.LostError
	if !errors.As(err, &lost) || n != 1 {
		t.Errorf("%v after %d attempts", err, n)
	}
}

func TestTransportsCanBeNestedAndEachHasItsLog(t *testing.T) {
	acct := storagetest.New(t)
	table(t, acct, "people")
	outer := storagetest.Wrap(acct.Transport(), nil)
	var opts aztables.ClientOptions
	opts.Transport = outer
	service := assert.Must(aztables.NewServiceClientFromConnectionString(acct.ConnectionString(), &opts))(t)
	client := service.NewClient("people")
	put(t, client, "a", "1", "2", "3")
	outer.Fault(storagetest.On("Table.Query").CutPage(1))
	if keys, pages := rowKeys(t, client, nil); len(keys) != 3 || pages != 3 {
		t.Errorf("%v in %d pages", keys, pages)
	}
	inside, outside := acct.Log(), outer.Log()
	if len(inside) != 6 || len(outside) != 6 || outside[5].Returned != 1 || outside[0].Written != 1 {
		t.Errorf("inside\n%v\noutside\n%v", inside, outside)
	}
}

func TestAnAccountLeavesNoGoroutineBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("use", func(t *testing.T) {
		acct := storagetest.New(t)
		server := assert.Must(acct.Serve())(t)
		var transport http.Transport
		defer transport.CloseIdleConnections()
		var opts aztables.ClientOptions
		opts.Transport = &http.Client{Transport: &transport}
		service := assert.Must(aztables.NewServiceClientFromConnectionString(server.ConnectionString(), &opts))(t)
		assert.NoError(t, assert.ErrorOf(service.CreateTable(t.Context(), "people", nil)))
		put(t, acct.Tables().NewClient("people"), "p", "r")
	})
	for start := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(start) > time.Minute {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
