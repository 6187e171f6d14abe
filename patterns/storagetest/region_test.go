package storagetest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// secondTables returns a client for the tables of the secondary, without retries.
func secondTables(t *testing.T, acct *storagetest.Account) *aztables.ServiceClient {
	t.Helper()
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	opts := once()
	opts.Transport = acct.Transport()
	client := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.SecondaryTablesURL, cred, opts))(t)
	return client
}

// lastSync returns the Last Sync Time of the Table service.
func lastSync(t *testing.T, tables *aztables.ServiceClient) time.Time {
	t.Helper()
	res := assert.Must(tables.GetStatistics(t.Context(), nil))(t)
	assert.Equal(t, *res.GeoReplication.Status, aztables.GeoReplicationStatusLive, "status")
	return *res.GeoReplication.LastSyncTime
}

func TestTheSecondaryContainsChangesAfterTheLag(t *testing.T) {
	documented(t) // there is no secondary at first
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		acct := storagetest.New(t)
		people := table(t, acct, "people")
		put(t, people, "p", "old")
		second := secondTables(t, acct)
		copied := second.NewClient("people")
		_, err := copied.GetEntity(ctx, "p", "old", nil)
		wantCode(t, err, http.StatusForbidden, "InsufficientAccountPermissions")

		acct.Replicate(time.Minute)
		start := time.Now()
		put(t, people, "p", "new")
		time.Sleep(30 * time.Second)
		assert.NoError(t, assert.ErrorOf(people.DeleteEntity(ctx, "p", "old", nil)))
		want := func(after time.Duration, rows ...string) {
			t.Helper()
			time.Sleep(time.Until(start.Add(after)))
			got, _ := rowKeys(t, copied, nil)
			if len(got) != len(rows) || len(got) > 0 && got[0] != rows[0] {
				t.Errorf("%v after the insert: rows %q, want %q", after, got, rows)
			}
		}
		want(59*time.Second, "old")
		want(time.Minute, "new", "old")
		want(89*time.Second, "new", "old")
		want(90*time.Second, "new")
		if got, want := lastSync(t, second), time.Now().Add(-time.Minute).Truncate(time.Second); !got.Equal(want) {
			t.Errorf("Last Sync Time %v, want %v", got, want)
		}

		first := assert.Must(people.GetEntity(ctx, "p", "new", nil))(t)
		again, err := copied.GetEntity(ctx, "p", "new", nil)
		assert.NoError(t, err)
		assert.Equal(t, first.ETag, again.ETag, "the ETag is", "on the primary and", "on the secondary")
		_, err = copied.UpsertEntity(ctx, entity(t, "p", "x"), nil)
		wantCode(t, err, http.StatusForbidden, "InsufficientAccountPermissions")
		if got := acct.Log().Only("Table.UpsertMerge"); got[len(got)-1].Region != storagetest.Secondary || got[0].Region != storagetest.Primary {
			t.Errorf("the log does not name the regions:\n%v", got)
		}

		assert.NoError(t, assert.ErrorOf(people.Delete(ctx, nil)))
		acct.Replicate(0) // a smaller lag takes effect immediately
		_, err = copied.GetEntity(ctx, "p", "new", nil)
		wantCode(t, err, http.StatusNotFound, "TableNotFound")
		time.Sleep(40 * time.Second) // the name of a deleted table stays blocked on the primary
		assert.NoError(t, assert.ErrorOf(people.CreateTable(ctx, nil)))
		want(3*time.Minute + 10*time.Second)
	})
}

func TestTheSecondaryAnswersWhileThePrimaryIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		const skew = time.Hour
		acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
		people := table(t, acct, "people")
		second := secondTables(t, acct)
		copied := second.NewClient("people")
		acct.Replicate(10 * time.Second)
		put(t, people, "p", "1")
		time.Sleep(10 * time.Second)
		put(t, people, "p", "2")
		acct.ResetLog()

		acct.Down(storagetest.Primary)
		began := time.Now()
		_, err := people.GetEntity(ctx, "p", "1", nil)
		var lost *storagetest.LostError
		if !errors.As(err, &lost) || lost.Op != "Table.Get" {
			t.Errorf("a read of the primary: %v, want a LostError", err)
		}
		for _, q := range acct.Log() {
			if q.Sent || q.Fault != ".Down" || q.Status != 0 {
				t.Errorf("the log contains %v", q)
			}
		}
		if rows, _ := rowKeys(t, copied, nil); len(rows) != 1 {
			t.Errorf("the secondary contains %q", rows)
		}
		time.Sleep(time.Hour)
		if got, want := lastSync(t, second), began.Add(skew-10*time.Second).Truncate(time.Second); !got.Equal(want) {
			t.Errorf("Last Sync Time %v, want %v, before the outage", got, want)
		}
		if rows, _ := rowKeys(t, copied, nil); len(rows) != 1 {
			t.Errorf("a change without a primary: %q", rows)
		}

		acct.Down(storagetest.Secondary)
		assert.Equal(t, assert.ErrorOf(people.GetEntity(ctx, "p", "2", nil)), nil, "the primary is up")
		if _, err := copied.GetEntity(ctx, "p", "1", nil); !errors.As(err, &lost) {
			t.Errorf("a read of the secondary: %v, want a LostError", err)
		}

		acct.Down()
		if rows, _ := rowKeys(t, copied, nil); len(rows) != 2 {
			t.Errorf("after the outages the secondary contains %q", rows)
		}
	})
}

func TestALateRequestToARegionThatIsDownIsNeverCarriedOut(t *testing.T) {
	acct := storagetest.New(t)
	people := table(t, acct, "people")
	assert.NoError(t, acct.Fault(storagetest.On("Table.Insert").Nth(1).LateRequest(0, 0)))
	acct.TablesWith(once()).NewClient("people").AddEntity(t.Context(), entity(t, "p", "1"), nil) //nolint:errcheck // lost
	acct.Down(storagetest.Primary)
	assert.Equal(assert.Now(t), acct.Arrive(), 1, "late requests")
	acct.Down()
	if rows, _ := rowKeys(t, people, nil); len(rows) != 0 {
		t.Errorf("rows %q", rows)
	}
	if q := acct.Log()[0]; q.Sent {
		t.Errorf("the log contains %v", q)
	}
}

func TestQueuesAndBlobsAreOnTheSecondary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		const skew = time.Hour
		acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
		check := func(_ any, err error) {
			t.Helper()
			assert.NoError(t, err)
		}
		check(acct.Queue("jobs").Create(ctx, nil))
		box := acct.Container("box")
		check(box.Create(ctx, nil))
		acct.Replicate(time.Minute)
		check(acct.Queue("jobs").EnqueueMessage(ctx, "m", nil))
		check(box.NewBlockBlobClient("b").UploadBuffer(ctx, []byte("one"), nil))
		time.Sleep(30 * time.Second)
		check(box.NewBlockBlobClient("b").UploadBuffer(ctx, []byte("two"), nil))
		check(acct.Queue("jobs").ClearMessages(ctx, nil))

		options := policy.ClientOptions{Transport: acct.Transport(), Retry: once().Retry}
		queueKey, err := azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
		check(nil, err)
		queues, err := azqueue.NewServiceClientWithSharedKeyCredential(storagetest.SecondaryQueuesURL, queueKey, &azqueue.ClientOptions{ClientOptions: options})
		check(nil, err)
		blobKey, err := azblob.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
		check(nil, err)
		blobs, err := azblob.NewClientWithSharedKeyCredential(storagetest.SecondaryBlobsURL, blobKey, &azblob.ClientOptions{ClientOptions: options})
		check(nil, err)

		want := func(text string, messages int) {
			t.Helper()
			res, err := blobs.DownloadStream(ctx, "box", "b", nil)
			check(nil, err)
			got, err := io.ReadAll(res.Body)
			check(nil, err)
			assert.Equal(t, string(got), text, "the blob is", got)
			peek, err := queues.NewQueueClient("jobs").PeekMessages(ctx, nil)
			check(nil, err)
			assert.Equal(t, len(peek.Messages), messages, "messages")
		}
		_, err = blobs.DownloadStream(ctx, "box", "b", nil)
		wantCode(t, err, http.StatusNotFound, "BlobNotFound")
		time.Sleep(30 * time.Second)
		want("one", 1)
		time.Sleep(30 * time.Second)
		want("two", 0)

		_, err = queues.NewQueueClient("jobs").DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](1)})
		wantCode(t, err, http.StatusForbidden, "InsufficientAccountPermissions")
		stats, err := queues.GetStatistics(ctx, nil)
		check(nil, err)
		if got, want := *stats.GeoReplication.LastSyncTime, time.Now().Add(skew-time.Minute).Truncate(time.Second); !got.Equal(want) {
			t.Errorf("queues: Last Sync Time %v, want %v", got, want)
		}
		blobStats, err := blobs.ServiceClient().GetStatistics(ctx, nil)
		check(nil, err)
		if !blobStats.GeoReplication.LastSyncTime.Equal(*stats.GeoReplication.LastSyncTime) {
			t.Errorf("blobs: Last Sync Time %v", *blobStats.GeoReplication.LastSyncTime)
		}
	})
}

func TestStatisticsAreOnlyOnTheSecondary(t *testing.T) {
	acct := storagetest.New(t)
	acct.Replicate(0)
	_, err := acct.Tables().GetStatistics(t.Context(), nil)
	var re *azcore.ResponseError
	if !errors.As(err, &re) || re.StatusCode != http.StatusBadRequest {
		t.Errorf("statistics of the primary: %v", err)
	}
}

func TestASASAndATokenAreValidOnTheSecondary(t *testing.T) {
	acct := storagetest.New(t)
	put(t, table(t, acct, "people"), "p", "1")
	acct.Replicate(0)
	address, err := acct.Tables().GetAccountSASURL(aztables.AccountSASResourceTypes{Object: true}, aztables.AccountSASPermissions{Read: true}, time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	assert.NoError(t, err)
	get := func(url, token string) int {
		t.Helper()
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res := assert.Must(acct.Transport().Do(req))(t)
		defer res.Body.Close()
		return res.StatusCode
	}
	_, query, _ := strings.Cut(address, "?")
	row := storagetest.SecondaryTablesURL + "/people(PartitionKey='p',RowKey='1')"
	assert.Equal(t, get(row+"?"+query, ""), http.StatusOK, "with a SAS")
	assert.Equal(t, get(row+"?"+query[:len(query)-6]+"AAAA%3D", ""), http.StatusForbidden, "with a broken SAS")
	assert.Equal(t, get(row, "token"), http.StatusOK, "with a token")

	server := assert.Must(acct.Serve())(t)
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	client := assert.Must(aztables.NewServiceClientWithSharedKey(server.TablesURL+"-secondary", cred, nil))(t)
	assert.Equal(t, assert.ErrorOf(client.NewClient("people").GetEntity(t.Context(), "p", "1", nil)), nil, "over HTTP")
}
