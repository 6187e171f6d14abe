package auth_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

func readRequest(r io.Reader) (*http.Request, error) {
	return http.ReadRequest(bufio.NewReader(r))
}

var oddText = []string{"plain", "two words", "it''s", "O'Brien", "100%", "a+b", "ä€😀", "a&b=c", "(x,y)", "semi;colon", "[b]", "~!@$^*_-.:", "%41", ""}

func client(c *capture) azcore.ClientOptions {
	return azcore.ClientOptions{Transport: c, Retry: noRetry}
}

func TestSharedKeyOfTheTablesSDKIsAccepted(t *testing.T) {
	cred := assert.Must(aztables.NewSharedKeyCredential(account, key64))(t)
	for style, endpoint := range endpoints(op.Table) {
		c := &capture{t: t}
		service := assert.Must(aztables.NewServiceClientWithSharedKey(endpoint, cred, &aztables.ClientOptions{ClientOptions: client(c)}))(t)
		table := service.NewClient("People")
		check := func(call string) {
			t.Helper()
			c.verify(style+"/"+call, op.Table, func(t *testing.T, r *http.Request, g auth.Grant, refusal *reply.Error) {
				wantCode(t, refusal, 0, "")
				wantCode(t, g.Allow(op.TableDrop, "People"), 0, "")
				assert.Equal(t, g.Kind(), auth.SharedKey, "kind")
				verifyAltered(t, r, op.Table)
			})
		}
		// Every request is refused; only the requests matter.
		for _, odd := range oddText {
			table.GetEntity(t.Context(), "p"+odd, odd, nil)
			check("get " + odd)
			table.DeleteEntity(t.Context(), "p"+odd, odd, nil)
			check("delete " + odd)
			table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("Name eq '" + odd + "'")}).NextPage(t.Context())
			check("query " + odd)
		}
		table.AddEntity(t.Context(), []byte(`{"PartitionKey":"a","RowKey":"b"}`), nil)
		check("insert")
		table.UpsertEntity(t.Context(), []byte(`{"PartitionKey":"a","RowKey":"b"}`), nil)
		check("upsert")
		table.SubmitTransaction(t.Context(), []aztables.TransactionAction{{
			ActionType: aztables.TransactionTypeAdd, Entity: []byte(`{"PartitionKey":"a","RowKey":"b"}`)}}, nil)
		check("batch")
		table.GetAccessPolicy(t.Context(), nil)
		check("comp=acl")
		service.CreateTable(t.Context(), "People", nil)
		check("create table")
		service.DeleteTable(t.Context(), "People", nil)
		check("delete table")
		service.GetProperties(t.Context(), nil)
		check("properties")
		service.NewListTablesPager(nil).NextPage(t.Context())
		check("list tables")
	}
}

func TestSharedKeyOfTheQueueSDKIsAccepted(t *testing.T) {
	cred := assert.Must(azqueue.NewSharedKeyCredential(account, key64))(t)
	for style, endpoint := range endpoints(op.Queue) {
		c := &capture{t: t}
		service, err := azqueue.NewServiceClientWithSharedKeyCredential(endpoint+"/", cred, &azqueue.ClientOptions{ClientOptions: client(c)})
		assert.NoError(t, err)
		check := func(call string) {
			t.Helper()
			c.verify(style+"/"+call, op.Queue, func(t *testing.T, r *http.Request, g auth.Grant, refusal *reply.Error) {
				wantCode(t, refusal, 0, "")
				verifyAltered(t, r, op.Queue)
			})
		}
		queue := service.NewQueueClient("work")
		queue.Create(t.Context(), &azqueue.CreateOptions{Metadata: map[string]*string{"a1": to.Ptr("x"), "a_": to.Ptr("y z"), "Owner": to.Ptr("me")}})
		check("create")
		queue.EnqueueMessage(t.Context(), "text", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](60)})
		check("put")
		queue.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](32)})
		check("get")
		queue.DeleteMessage(t.Context(), "id", "pop+rec/eipt==", nil)
		check("delete message")
		queue.UpdateMessage(t.Context(), "id", "pop receipt", "", nil)
		check("update")
		queue.ClearMessages(t.Context(), nil)
		check("clear")
		service.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: to.Ptr("a b&c+d"), Include: azqueue.ListQueuesInclude{Metadata: true}}).NextPage(t.Context())
		check("list")
	}
}

func TestSharedKeyOfTheBlobSDKIsAccepted(t *testing.T) {
	cred := assert.Must(container.NewSharedKeyCredential(account, key64))(t)
	for style, endpoint := range endpoints(op.Blob) {
		c := &capture{t: t}
		files, err := container.NewClientWithSharedKeyCredential(endpoint+"/files", cred, &container.ClientOptions{ClientOptions: client(c)})
		assert.NoError(t, err)
		check := func(call string) {
			t.Helper()
			c.verify(style+"/"+call, op.Blob, func(t *testing.T, r *http.Request, g auth.Grant, refusal *reply.Error) {
				wantCode(t, refusal, 0, "")
				verifyAltered(t, r, op.Blob)
			})
		}
		files.Create(t.Context(), &container.CreateOptions{Metadata: map[string]*string{"a1": to.Ptr("x"), "a_": to.Ptr("y")}})
		check("create")
		files.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{Prefix: to.Ptr("a b/ä+"),
			Include: container.ListBlobsInclude{Metadata: true, Copy: true}}).NextPage(t.Context())
		check("list")
		for _, odd := range append(oddText, "dir/sub/file", `back\slash`, "q?m#h") {
			if odd == "" {
				continue
			}
			b := files.NewBlockBlobClient(odd)
			b.Upload(t.Context(), streaming.NopCloser(strings.NewReader("content")), &blockblob.UploadOptions{
				Metadata: map[string]*string{"b1": to.Ptr("x"), "b_": to.Ptr("y")},
				AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{
					IfNoneMatch: to.Ptr(azcore.ETagAny), IfModifiedSince: to.Ptr(time.Now())}},
			})
			check("upload " + odd)
			b.Upload(t.Context(), streaming.NopCloser(strings.NewReader("")), nil)
			check("upload nothing " + odd)
			b.DownloadStream(t.Context(), &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 3, Count: 5}})
			check("read " + odd)
		}
	}
}

// verifyAltered checks that a request is refused if it was altered after signing.
func verifyAltered(t *testing.T, r *http.Request, s op.Service) {
	t.Helper()
	altered := r.Clone(t.Context())
	altered.URL.Path += "x"
	altered.URL.RawPath = ""
	_, refusal := verify(verifier(), altered, s)
	wantCode(t, refusal, http.StatusForbidden, "AuthenticationFailed")

	altered = r.Clone(t.Context())
	altered.Header.Set("x-ms-date", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))
	_, refusal = verify(verifier(), altered, s)
	wantCode(t, refusal, http.StatusForbidden, "AuthenticationFailed")

	other := verifier()
	other.Keys = other.Keys[:1]
	_, refusal = verify(other, r, s)
	wantCode(t, refusal, http.StatusForbidden, "AuthenticationFailed")
}

func TestBearerTokensOfTheSDKAreAccepted(t *testing.T) {
	c := &capture{t: t}
	service, err := aztables.NewServiceClient(endpoints(op.Table)["host"], token("eyJ0.eyJh.c2ln"), &aztables.ClientOptions{ClientOptions: client(c)})
	assert.NoError(t, err)
	service.NewClient("People").GetEntity(t.Context(), "a", "b", nil)
	c.verify("get", op.Table, func(t *testing.T, r *http.Request, g auth.Grant, refusal *reply.Error) {
		wantCode(t, refusal, 0, "")
		assert.Equal(t, g.Kind(), auth.Bearer, "kind")
	})
}
