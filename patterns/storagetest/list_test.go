package storagetest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// pages reads all pages of a list and returns the names on each of them.
func pages[R any](t *testing.T, pager *runtime.Pager[R], names func(R) []string) [][]string {
	t.Helper()
	var all [][]string
	for pager.More() {
		page := assert.Must(pager.NextPage(t.Context()))(t)
		if all = append(all, names(page)); len(all) > 20 {
			t.Fatal("the list has no end")
		}
	}
	return all
}

func TestEveryListMayHaveShortAndEmptyPages(t *testing.T) {
	acct := storagetest.New(t)
	transport := azcore.ClientOptions{Transport: acct.Transport()}
	blobs := assert.Must(azblob.NewClientFromConnectionString(acct.ConnectionString(), &azblob.ClientOptions{ClientOptions: transport}))(t)
	queues := assert.Must(azqueue.NewServiceClientFromConnectionString(acct.ConnectionString(), &azqueue.ClientOptions{ClientOptions: transport}))(t)
	for _, name := range []string{"one", "three", "two"} {
		_, e1 := acct.Queue(name).Create(t.Context(), nil)
		_, e2 := acct.Container(name).Create(t.Context(), nil)
		_, e3 := acct.Container("one").NewBlockBlobClient(name+"/x").UploadBuffer(t.Context(), nil, nil)
		if e1 != nil || e2 != nil || e3 != nil {
			t.Fatal(e1, e2, e3)
		}
	}
	lists := map[string]func(t *testing.T) [][]string{
		"Queue.ListQueues": func(t *testing.T) [][]string {
			return pages(t, queues.NewListQueuesPager(nil), func(r azqueue.ListQueuesResponse) (names []string) {
				for _, q := range r.Queues {
					names = append(names, *q.Name)
				}
				return names
			})
		},
		"Blob.ListContainers": func(t *testing.T) [][]string {
			return pages(t, blobs.NewListContainersPager(nil), func(r azblob.ListContainersResponse) (names []string) {
				for _, c := range r.ContainerItems {
					names = append(names, *c.Name)
				}
				return names
			})
		},
		"Blob.List": func(t *testing.T) [][]string {
			return pages(t, blobs.NewListBlobsFlatPager("one", nil), func(r azblob.ListBlobsFlatResponse) (names []string) {
				for _, b := range r.Segment.BlobItems {
					names = append(names, (*b.Name)[:len(*b.Name)-2])
				}
				return names
			})
		},
	}
	for _, tt := range []struct {
		rule func(storagetest.Rule) storagetest.Rule
		want string
	}{
		{func(r storagetest.Rule) storagetest.Rule { return r.ShortPage(2) }, "[[one three] [two]]"},
		{func(r storagetest.Rule) storagetest.Rule { return r.EmptyPage() }, "[[] [one three two]]"},
		{func(r storagetest.Rule) storagetest.Rule { return r.EmptyPage().ShortPage(2) }, "[[] [one three] [] [two]]"},
		{func(r storagetest.Rule) storagetest.Rule { return r.Nth(2).EmptyPage() }, "[[one three two]]"},
	} {
		for _, op := range []string{"Queue.ListQueues", "Blob.ListContainers", "Blob.List"} {
			acct.ClearFaults()
			acct.Fault(tt.rule(storagetest.On(op)))
			got := lists[op](t)
			if fmt.Sprint(got) != tt.want {
				t.Errorf("%v: %v, want %s", tt.rule(storagetest.On(op)), got, tt.want)
			}
			if names := slices.Concat(got...); len(names) != 3 {
				t.Errorf("%s: %v", op, names)
			}
		}
	}
}
