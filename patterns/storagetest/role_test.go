package storagetest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// What a role does not permit is refused as in the service.
func ExampleAccount_Credential() {
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	opts.Transport = acct.Transport()
	client, err := aztables.NewServiceClient(storagetest.TablesURL, acct.Credential(storagetest.TableReader), &opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.CreateTable(context.Background(), "people", nil)
	fmt.Println(acct.Log()[0].Status, acct.Log()[0].Code, err != nil)
	// Output: 403 AuthorizationPermissionMismatch true
}

// roleCalls are one call of each kind that some role permits, by name.
func roleCalls(t *testing.T, acct *storagetest.Account, roles ...storagetest.Role) map[string]func() error {
	ctx, cred := t.Context(), acct.Credential(roles...)
	var to aztables.ClientOptions
	var qo azqueue.ClientOptions
	var co container.ClientOptions
	to.Transport, qo.Transport, co.Transport = acct.Transport(), acct.Transport(), acct.Transport()
	service := assert.Must(aztables.NewServiceClient(storagetest.TablesURL, cred, &to))(t)
	people := service.NewClient("people")
	jobs := assert.Must(azqueue.NewQueueClient(storagetest.QueuesURL+"/jobs", cred, &qo))(t)
	box := assert.Must(container.NewClient(storagetest.BlobsURL+"/photos", cred, &co))(t)
	add := func() error { return assert.ErrorOf(jobs.EnqueueMessage(ctx, "m", nil)) }
	return map[string]func() error{
		"read a row":  func() error { return assert.ErrorOf(people.GetEntity(ctx, "p", "r", nil)) },
		"query rows":  func() error { return assert.ErrorOf(people.NewListEntitiesPager(nil).NextPage(ctx)) },
		"list tables": func() error { return assert.ErrorOf(service.NewListTablesPager(nil).NextPage(ctx)) },
		"write a row": func() error { return assert.ErrorOf(people.UpsertEntity(ctx, entity(t, "p", "r"), nil)) },
		"write a batch": func() error {
			action := aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertMerge, Entity: entity(t, "p", "r")}
			return assert.ErrorOf(people.SubmitTransaction(ctx, []aztables.TransactionAction{action}, nil))
		},
		"table policies": func() error { return assert.ErrorOf(people.GetAccessPolicy(ctx, nil)) },
		"add a message":  add,
		"peek":           func() error { return assert.ErrorOf(jobs.PeekMessage(ctx, nil)) },
		"receive":        func() error { return assert.ErrorOf(jobs.DequeueMessage(ctx, nil)) },
		"queue":          func() error { return assert.ErrorOf(jobs.GetProperties(ctx, nil)) },
		"clear":          func() error { return assert.ErrorOf(jobs.ClearMessages(ctx, nil)) },
		"read a blob":    func() error { return assert.ErrorOf(box.NewBlobClient("a").GetProperties(ctx, nil)) },
		"list blobs":     func() error { return assert.ErrorOf(box.NewListBlobsFlatPager(nil).NextPage(ctx)) },
		"write a blob":   func() error { return assert.ErrorOf(box.NewBlockBlobClient("a").UploadBuffer(ctx, []byte("x"), nil)) },
		"tag a blob": func() error {
			return assert.ErrorOf(box.NewBlobClient("a").SetTags(ctx, map[string]string{"k": "v"}, &blob.SetTagsOptions{}))
		},
		"container policies": func() error { return assert.ErrorOf(box.GetAccessPolicy(ctx, nil)) },
	}
}

func TestARolePermitsItsOperationsOnly(t *testing.T) {
	acct := storagetest.New(t)
	put(t, table(t, acct, "people"), "p", "r")
	assert.NoError(t, assert.ErrorOf(acct.Queue("jobs").Create(t.Context(), nil)))
	box := acct.Container("photos")
	assert.NoError(t, assert.ErrorOf(box.Create(t.Context(), nil)))
	assert.NoError(t, assert.ErrorOf(box.NewBlockBlobClient("a").UploadBuffer(t.Context(), []byte("x"), nil)))

	readRows := []string{"read a row", "query rows", "list tables"}
	readBlobs := []string{"read a blob", "list blobs"}
	for _, c := range []struct {
		roles   []storagetest.Role
		permits []string
	}{
		{nil, nil},
		{[]storagetest.Role{storagetest.TableReader}, readRows},
		{[]storagetest.Role{storagetest.TableContributor}, append([]string{"write a row", "write a batch"}, readRows...)},
		{[]storagetest.Role{storagetest.QueueReader}, []string{"peek", "queue"}},
		{[]storagetest.Role{storagetest.QueueSender}, []string{"add a message"}},
		{[]storagetest.Role{storagetest.QueueProcessor}, []string{"peek", "receive"}},
		{[]storagetest.Role{storagetest.QueueContributor}, []string{"add a message", "peek", "receive", "queue", "clear"}},
		{[]storagetest.Role{storagetest.BlobReader, storagetest.QueueSender}, append([]string{"add a message"}, readBlobs...)},
		{[]storagetest.Role{storagetest.BlobContributor}, append([]string{"write a blob"}, readBlobs...)},
		{[]storagetest.Role{storagetest.BlobOwner}, append([]string{"write a blob", "tag a blob", "container policies"}, readBlobs...)},
	} {
		t.Run(fmt.Sprint(c.roles), func(t *testing.T) {
			permitted := map[string]bool{}
			for _, name := range c.permits {
				permitted[name] = true
			}
			for name, call := range roleCalls(t, acct, c.roles...) {
				if permitted[name] {
					assert.NoError(t, call(), name)
					continue
				}
				acct.ResetLog()
				assert.Failed(t, call(), name)
				if q := acct.Log()[0]; q.Status != http.StatusForbidden && q.Inner != http.StatusForbidden || q.Code != "AuthorizationPermissionMismatch" {
					t.Errorf("%s: %v", name, q)
				}
			}
		})
	}
}

func TestAnUnknownRoleFailsTheTest(t *testing.T) {
	l := &failing{TB: t}
	storagetest.New(l).Credential("Owner")
	if len(l.errors) != 1 {
		t.Errorf("errors %q, want one", l.errors)
	}
}

// failing records the failures of a test.
type failing struct {
	testing.TB
	errors []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
