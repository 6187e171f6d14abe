package storagetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// secondBox returns a client for a container of the secondary, without retries.
func secondBox(t *testing.T, acct *storagetest.Account, name string) *container.Client {
	t.Helper()
	key := assert.Must(azblob.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	client, err := container.NewClientWithSharedKeyCredential(storagetest.SecondaryBlobsURL+"/"+name, key,
		&container.ClientOptions{ClientOptions: policy.ClientOptions{Transport: acct.Transport(), Retry: once().Retry}})
	assert.NoError(t, err)
	return client
}

func TestSnapshotsAndAppendsAndDeletesReachTheSecondaryAfterTheLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		acct := storagetest.New(t)
		check := func(_ any, err error) {
			t.Helper()
			assert.NoError(t, err)
		}
		box := acct.Container("box")
		check(box.Create(ctx, nil))
		acct.Replicate(time.Minute)
		b := box.NewBlockBlobClient("b")
		check(b.UploadBuffer(ctx, []byte("one"), nil))
		snapshot, err := b.CreateSnapshot(ctx, nil)
		check(nil, err)
		check(b.UploadBuffer(ctx, []byte("two"), nil))
		diary := box.NewAppendBlobClient("diary")
		check(diary.Create(ctx, nil))
		check(diary.AppendBlock(ctx, streaming.NopCloser(strings.NewReader("a")), nil))

		second := secondBox(t, acct, "box")
		read := func(name, snapshot string) string {
			t.Helper()
			c := second.NewBlobClient(name)
			if snapshot != "" {
				c, err = c.WithSnapshot(snapshot)
				check(nil, err)
			}
			res, err := c.DownloadStream(ctx, nil)
			check(nil, err)
			text, err := io.ReadAll(res.Body)
			check(nil, err)
			return string(text)
		}
		tier := func() string {
			t.Helper()
			c, err := second.NewBlobClient("b").WithSnapshot(*snapshot.Snapshot)
			check(nil, err)
			res, err := c.GetProperties(ctx, nil)
			check(nil, err)
			return *res.AccessTier
		}
		time.Sleep(time.Minute)
		old, err := b.WithSnapshot(*snapshot.Snapshot)
		check(nil, err)
		check(old.SetTier(ctx, blob.AccessTierCool, nil))
		check(diary.AppendBlock(ctx, streaming.NopCloser(strings.NewReader("b")), nil))
		check(b.Delete(ctx, &blob.DeleteOptions{DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeOnly)}))
		assert.Equal(t, read("b", "")+read("b", *snapshot.Snapshot)+read("diary", "")+tier(), "twooneaHot", "before the lag has passed")
		time.Sleep(time.Minute)
		assert.Equal(t, read("b", "")+read("diary", ""), "twoab", "after the lag")
		gone, err := second.NewBlobClient("b").WithSnapshot(*snapshot.Snapshot)
		check(nil, err)
		_, err = gone.GetProperties(ctx, nil)
		wantCode(t, err, http.StatusNotFound, "BlobNotFound")

		check(box.Delete(ctx, nil))
		read("b", "")
		time.Sleep(time.Minute)
		_, err = second.GetProperties(ctx, nil)
		wantCode(t, err, http.StatusNotFound, "ContainerNotFound")
	})
}

// Each batch writes the same number to all rows of its partition, so a page with two numbers
// was never the state of the primary.
func TestTheSecondaryShowsOnlyStatesOfThePrimary(t *testing.T) {
	const writers, rounds, rows = 8, 20, 3
	acct := storagetest.New(t)
	people := table(t, acct, "people")
	acct.Replicate(0)
	second := secondTables(t, acct)
	copied := second.NewClient("people")
	page := func(c *aztables.Client, partition string) []string {
		filter := "PartitionKey eq '" + partition + "'"
		res, err := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(t.Context())
		var lost *storagetest.LostError
		if err != nil && !errors.As(err, &lost) {
			t.Error(err)
		}
		var numbers []string
		for _, e := range res.Entities {
			var row struct{ N string }
			assert.Equal(t, json.Unmarshal(e, &row), nil)
			numbers = append(numbers, row.N)
		}
		return numbers
	}
	var group sync.WaitGroup
	for w := range writers {
		partition := fmt.Sprint("p", w%4)
		group.Go(func() {
			for i := range rounds {
				var acts []aztables.TransactionAction
				for r := range rows {
					row := fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":"%d","N":"%d-%d"}`, partition, r, w, i)
					acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: row})
				}
				assert.Equal(t, assert.ErrorOf(people.SubmitTransaction(t.Context(), acts, nil)), nil)
			}
		})
		group.Go(func() {
			var synced time.Time
			for i := range rounds {
				if w == 0 { // an outage, while the others write and read
					acct.Down([][]storagetest.Region{{storagetest.Secondary}, nil}[i%2]...)
				}
				if numbers := page(copied, partition); len(numbers) > 0 && (len(numbers) != rows || numbers[0] != numbers[1] || numbers[1] != numbers[2]) {
					t.Errorf("the secondary shows %q", numbers)
				}
				res, err := second.GetStatistics(t.Context(), nil)
				if err != nil {
					continue // down
				}
				if at := *res.GeoReplication.LastSyncTime; at.Before(synced) {
					t.Errorf("the Last Sync Time went from %v to %v", synced, at)
				} else {
					synced = at
				}
			}
		})
	}
	group.Wait()
	acct.Down()
	for p := range 4 {
		partition := fmt.Sprint("p", p)
		if first, again := page(people, partition), page(copied, partition); fmt.Sprint(first) != fmt.Sprint(again) || len(first) != rows {
			t.Errorf("partition %s: %q on the primary, %q on the secondary", partition, first, again)
		}
	}
}
