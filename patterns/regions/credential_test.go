package regions_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	queuesas "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type token struct{}

func (token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// endpoint is an account at one kind of address.
type endpoint struct {
	connection string
	send       func(*http.Request) (*http.Response, error)
	tokens     bool
}

// endpoints runs body at an account whose name is in the host, at one whose name is in the path,
// and at Azurite.
func endpoints(t *testing.T, body func(t *testing.T, e endpoint)) {
	t.Run("host", func(t *testing.T) {
		account := storagetest.New(t)
		account.Replicate(0)
		body(t, endpoint{account.ConnectionString(), account.Transport().Do, true})
	})
	t.Run("path", func(t *testing.T) {
		account := storagetest.New(t)
		account.Replicate(0)
		server := assert.Must(account.Serve())(t)
		body(t, endpoint{server.ConnectionString(), http.DefaultClient.Do, false})
	})
	t.Run("azurite", func(t *testing.T) {
		body(t, endpoint{azurite.Shared(t).ConnectionString(), http.DefaultClient.Do, false})
	})
}

// requests of the primary fail, except those that sign in or write.
func (e endpoint) withoutPrimary(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet && !strings.Contains(req.URL.Host+req.URL.Path, "-secondary") {
		return nil, errors.New("no reply")
	}
	return e.send(req)
}

func TestEveryCredentialSignsForTheSecondary(t *testing.T) {
	endpoints(t, func(t *testing.T, e endpoint) {
		plain := assert.Must(aztables.NewServiceClientFromConnectionString(e.connection, &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: harness.Transport(e.send)}}))(t)
		name := harness.UniqueName()
		assert.Must(plain.CreateTable(t.Context(), name, nil))(t)
		t.Cleanup(func() { assert.MayFail(plain.DeleteTable(context.Background(), name, nil)) })
		r := row{"it's a key", "ä %2F+", 1}
		assert.Must(assert.Must(patterns.NewTable[row](plain.NewClient(name), nil))(t).Insert(t.Context(), &r))(t)
		later := time.Now().Add(time.Hour)
		address, _, _ := strings.Cut(assert.Must(plain.GetAccountSASURL(aztables.AccountSASResourceTypes{Object: true}, aztables.AccountSASPermissions{Read: true}, time.Now(), later))(t), "?")
		signature := assert.Must(aztables.AccountSASSignatureValues{
			Version: aztables.SASVersion, Protocol: aztables.SASProtocolHTTPSandHTTP, Permissions: "r", Services: "t", ResourceTypes: "sco", ExpiryTime: later.UTC(),
		}.Sign(assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)))(t)
		account := address + "?" + signature.Encode()
		table := assert.Must(plain.NewClient(name).GetTableSASURL(aztables.SASPermissions{Read: true}, time.Now().Add(-time.Hour), later))(t)
		for _, accelerated := range []bool{false, true} {
			var pair *regions.Pair
			options := func() *aztables.ClientOptions {
				pair = new(regions.Pair)
				opts := &aztables.ClientOptions{}
				opts.Transport = harness.Transport(e.withoutPrimary)
				opts.Retry.MaxRetries = -1
				pair.Attach(&opts.ClientOptions)
				if accelerated {
					patterns.Accelerate(&opts.ClientOptions)
				}
				return opts
			}
			clients := map[string]func() (*aztables.ServiceClient, *aztables.Client, error){
				"shared key": func() (*aztables.ServiceClient, *aztables.Client, error) {
					s, err := aztables.NewServiceClientFromConnectionString(e.connection, options())
					return s, nil, err
				},
				"account SAS": func() (*aztables.ServiceClient, *aztables.Client, error) {
					s, err := aztables.NewServiceClientWithNoCredential(account, options())
					return s, nil, err
				},
				"table SAS": func() (*aztables.ServiceClient, *aztables.Client, error) {
					_, signature, _ := strings.Cut(table, "?")
					s, err := aztables.NewServiceClientWithNoCredential(address+"?"+signature, options())
					if err != nil {
						return nil, nil, err
					}
					return nil, s.NewClient(name), nil
				},
			}
			if e.tokens {
				clients["token"] = func() (*aztables.ServiceClient, *aztables.Client, error) {
					s, err := aztables.NewServiceClient(storagetest.TablesURL, token{}, options())
					return s, nil, err
				}
			}
			for credential, open := range clients {
				service, client, err := open()
				assert.NoError(t, err)
				pair.Use(service)
				if client == nil {
					client = service.NewClient(name)
				}
				rows := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
				for range 4 { // also with a request that is sent again
					item, err := rows.Get(t.Context(), r.key())
					if err != nil || item.Region != regions.Secondary || item.Value != r {
						t.Errorf("%s, accelerated %v: %+v, %+v", credential, accelerated, item, err)
					}
					assert.Equal(t, item.MaxAge == regions.UnknownAge, service == nil, credential, "accelerated", accelerated, "age", item.MaxAge)
				}
				page, err := rows.Page(t.Context(), query.PartitionKey.Eq(r.PartitionKey), "", nil)
				if err != nil || page.Region != regions.Secondary || len(page.Items) != 1 {
					t.Errorf("%s, accelerated %v: %+v, %+v", credential, accelerated, page, err)
				}
				for page, err := range rows.Scan(t.Context(), query.Filter{}, "", nil) {
					if err != nil || page.Region != regions.Secondary || len(page.Items) != 1 {
						t.Errorf("%s, accelerated %v: %+v, %+v", credential, accelerated, page, err)
					}
				}
			}
		}
	})
}

func TestAProgramOnAztablesPermitsItsReads(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		client := w.service.NewClient("Rows")
		ctx, report := regions.Permit(t.Context())
		assert.Equal(t, report.Source(), regions.Source{}, "a source without a read")
		assert.Must(client.GetEntity(ctx, r.PartitionKey, r.RowKey, nil))(t)
		if s := report.Source(); s.Region != regions.Secondary || s.MaxAge < lag {
			t.Errorf("source %+v", s)
		}
		w.account.Down()
		for range 100 {
			assert.Must(client.GetEntity(ctx, r.PartitionKey, r.RowKey, nil))(t)
			time.Sleep(time.Second)
		}
		if s := report.Source(); s.Region != regions.Secondary || s.MaxAge < lag {
			t.Errorf("source %+v of reads from both regions", s)
		}
		w.account.Down(storagetest.Primary)
		// Others read only from the primary, except for what only the secondary has.
		assert.Failed(t, assert.ErrorOf(client.GetEntity(t.Context(), r.PartitionKey, r.RowKey, nil)), "answered")
		stats := assert.Must(w.service.GetStatistics(t.Context(), nil))(t)
		if stats.GeoReplication == nil || stats.GeoReplication.LastSyncTime == nil {
			t.Error("no Last Sync Time")
		}
	})
}

func TestAMeterThatIsAttachedFirstCountsTheRequestsOfBothRegions(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		meter := assert.Must(heat.NewMeter(nil))(t)
		opts := azcore.ClientOptions{Transport: harness.Transport(w.send)}
		meter.Attach(&opts)
		w.pair.Attach(&opts)
		attached := opts.Transport
		if w.pair.Attach(&opts); opts.Transport != attached {
			t.Error("attached twice")
		}
		w.pair.Attach(nil)
		client := harness.Open(t, w.account.ConnectionString(), "Rows", true, opts.Transport)
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		assert.Must(table.Get(t.Context(), r.key()))(t)
		if counted := meter.Snapshot().Resources["tRows"]; counted.Transactions != 2 {
			t.Errorf("counted %v", counted)
		}
	})
}

func TestMisuseIsAnErrorThatNamesIt(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		_, err := regions.NewTable[row](nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
		client := harness.Open(t, w.account.ConnectionString(), "Rows", true, w.account.Transport())
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		_, err = table.Get(t.Context(), r.key())
		assert.WantError(t, err, patterns.ErrBadOption)
		_, err = table.Page(t.Context(), query.PartitionKey.Eq("p00"), "", nil)
		assert.WantError(t, err, patterns.ErrBadOption)
		assert.WantError(t, assert.Failure(t, table.Query(t.Context(), query.PartitionKey.Eq("p00"), nil)), patterns.ErrBadOption)
		assert.WantError(t, assert.Failure(t, table.Scan(t.Context(), query.Filter{}, "", nil)), patterns.ErrBadOption)
		_, err = w.table.Page(t.Context(), query.PartitionKey.Eq("p00"), "x", nil)
		assert.WantError(t, err, patterns.ErrBadCursor)
		assert.WantError(t, assert.Failure(t, w.table.Scan(t.Context(), query.Filter{}, "x", nil)), patterns.ErrBadCursor)
		assert.WantError(t, assert.Failure(t, w.table.Query(t.Context(), query.Filter{}, nil)), query.ErrScan)
		if got := assert.All(t, w.table.Query(t.Context(), query.Or(), nil)); got != nil {
			t.Errorf("rows %v", got)
		}
	})
}

// signIn is a credential whose tokens are revoked once. It records what is requested.
type signIn struct {
	mu        sync.Mutex
	requested []policy.TokenRequestOptions
}

func (s *signIn) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requested = append(s.requested, o)
	return azcore.AccessToken{Token: "token" + o.Claims, ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestATokenThatTheSecondaryRefusesIsRenewedWhileThePrimaryIsDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 3)[0]
		w.replicate()
		w.account.Down(storagetest.Primary)
		var revoked atomic.Bool
		send := harness.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := w.send(req)
			if err == nil && revoked.Load() && req.Header.Get("Authorization") == "Bearer token" {
				_ = resp.Body.Close()
				resp.StatusCode, resp.Body = http.StatusUnauthorized, http.NoBody
				resp.Header.Set("WWW-Authenticate", `Bearer error="insufficient_claims", claims="`+base64.StdEncoding.EncodeToString([]byte("2"))+`"`)
			}
			return resp, err
		})
		var credential signIn
		opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: attached(w.pair, send)}}
		service := assert.Must(aztables.NewServiceClient(storagetest.TablesURL, &credential, opts))(t)
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](service.NewClient("Rows"), nil))(t), nil))(t)
		for range 3 {
			assert.Must(table.Get(t.Context(), r.key()))(t)
		}
		page := assert.Must(table.Page(t.Context(), query.PartitionKey.Eq("p00"), "", &patterns.QueryOptions{PageSize: 1}))(t)
		revoked.Store(true)
		page = assert.Must(table.Page(t.Context(), query.PartitionKey.Eq("p00"), page.Cursor, &patterns.QueryOptions{PageSize: 1}))(t)
		assert.Equal(assert.Now(t), len(page.Items), 1)
		assert.Equal(t, page.Region, regions.Secondary)
		assert.Must(table.Get(t.Context(), r.key()))(t)
		if n := len(credential.requested); n != 2 || credential.requested[1].Claims != "2" {
			t.Errorf("requested %+v", credential.requested)
		}
		for _, o := range credential.requested {
			assert.EqualSlices(t, o.Scopes, []string{"https://storage.azure.com/.default"}, "a token for")
		}
	})
}

func TestQueuesAndBlobsUseThePrimaryExceptForTheirStatistics(t *testing.T) {
	endpoints(t, func(t *testing.T, e endpoint) {
		var secondary atomic.Int64
		var options azcore.ClientOptions
		options.Transport = harness.Transport(func(req *http.Request) (*http.Response, error) {
			if strings.Contains(req.URL.Host+req.URL.Path, "-secondary") {
				secondary.Add(1)
			}
			return e.send(req)
		})
		new(regions.Pair).Attach(&options)
		queues := map[string]*azqueue.ServiceClient{
			"shared key": assert.Must(azqueue.NewServiceClientFromConnectionString(e.connection, &azqueue.ClientOptions{ClientOptions: options}))(t),
		}
		blobs := map[string]*service.Client{
			"shared key": assert.Must(service.NewClientFromConnectionString(e.connection, &service.ClientOptions{ClientOptions: options}))(t),
		}
		later := time.Now().Add(time.Hour)
		// GetSASURL permits only HTTPS.
		queueSAS := assert.Must(queuesas.AccountSignatureValues{Protocol: queuesas.ProtocolHTTPSandHTTP, ExpiryTime: later, Permissions: "rlcd", ResourceTypes: "sc"}.SignWithSharedKey(
			assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)))(t)
		blobSAS := assert.Must(blobsas.AccountSignatureValues{Protocol: blobsas.ProtocolHTTPSandHTTP, ExpiryTime: later, Permissions: "rlcd", ResourceTypes: "sc"}.SignWithSharedKey(
			assert.Must(service.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)))(t)
		queues["SAS"] = assert.Must(azqueue.NewServiceClientWithNoCredential(queues["shared key"].URL()+"?"+queueSAS.Encode(), &azqueue.ClientOptions{ClientOptions: options}))(t)
		blobs["SAS"] = assert.Must(service.NewClientWithNoCredential(blobs["shared key"].URL()+"?"+blobSAS.Encode(), &service.ClientOptions{ClientOptions: options}))(t)
		if e.tokens {
			queues["token"] = assert.Must(azqueue.NewServiceClient(storagetest.QueuesURL, token{}, &azqueue.ClientOptions{ClientOptions: options}))(t)
			blobs["token"] = assert.Must(service.NewClient(storagetest.BlobsURL, token{}, &service.ClientOptions{ClientOptions: options}))(t)
		}
		ctx, report := regions.Permit(t.Context())
		for credential, client := range queues {
			name := harness.UniqueName()
			assert.Must(client.NewQueueClient(name).Create(ctx, nil))(t)
			assert.Must(client.NewQueueClient(name).GetProperties(ctx, nil))(t)
			assert.Equal(t, secondary.Swap(0), 0, credential, "requests for a queue to the secondary")
			stats := assert.Must(client.GetStatistics(ctx, nil))(t)
			if n := secondary.Swap(0); n != 1 || stats.GeoReplication == nil {
				t.Errorf("%s: %d requests to the secondary, %+v", credential, n, stats)
			}
			assert.MayFail(client.NewQueueClient(name).Delete(ctx, nil))
		}
		for credential, client := range blobs {
			name := harness.UniqueName()
			assert.Must(client.NewContainerClient(name).Create(ctx, nil))(t)
			assert.Must(client.NewContainerClient(name).GetProperties(ctx, nil))(t)
			assert.Equal(t, secondary.Swap(0), 0, credential, "requests for a container to the secondary")
			stats := assert.Must(client.GetStatistics(ctx, nil))(t)
			if n := secondary.Swap(0); n != 1 || stats.GeoReplication == nil {
				t.Errorf("%s: %d requests to the secondary, %+v", credential, n, stats)
			}
			assert.MayFail(client.NewContainerClient(name).Delete(ctx, nil))
		}
		if s := report.Source(); s.Region == regions.Secondary {
			t.Errorf("source %+v", s)
		}
	})
}
