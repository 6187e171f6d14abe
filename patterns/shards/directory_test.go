package shards_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestReadsAndWritesContinueUntilTheEndOfTheLeaseIfTheDirectoryCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := storagetest.New(t)
		const lease = time.Minute
		s, table := create(t, accounts(account.Tables(), 2), &shards.Options{Directory: "layout", Lease: lease})
		assert.Must(table.Insert(t.Context(), &doc{PartitionKey: "p", RowKey: "r"}))(t)
		assert.NoError(t, account.Fault(storagetest.On("Table.Get").Where(func(r storagetest.Request) bool { return r.Resource == "layout" }).
			Times(storagetest.Forever).Status(500, "InternalError")))
		began, last := time.Now(), time.Now()
		for time.Since(began) < 2*lease {
			_, err := table.Get(t.Context(), keys.Key{Partition: "p", Row: "r"})
			if err == nil {
				_, err = table.Upsert(t.Context(), &doc{PartitionKey: "p", RowKey: "r"}, patterns.Replace)
			}
			if err == nil {
				last = time.Now()
			}
			time.Sleep(time.Second)
		}
		if after := last.Sub(began); after < lease-2*time.Second || after > lease+time.Second {
			t.Errorf("the last success was after %v", after)
		}
		account.ClearFaults()
		assert.NoError(t, assert.ErrorOf(s.Account(t.Context(), "p")))
	})
}

// A directory of the secondary could be an earlier version, after whose lease partitions have
// moved: writes would be lost.
func TestTheDirectoryAndMergedQueriesUseThePrimaryAlsoWithAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := storagetest.New(t)
		var pair regions.Pair
		var opts aztables.ClientOptions
		opts.Transport = account.Transport()
		pair.Attach(&opts.ClientOptions)
		service := assert.Must(aztables.NewServiceClientFromConnectionString(account.ConnectionString(), &opts))(t)
		list := accounts(service, 3)
		s, table := create(t, list[:2], &shards.Options{Directory: "layout", Lease: time.Second})
		all := fill(t, table, 6, 1)
		account.Replicate(0)
		fail := func(op string) { // no more often than the SDK tries again
			assert.NoError(t, account.Fault(storagetest.On(op).Times(3).Status(500, "InternalError")))
		}
		fail("Table.Get")
		ctx, _ := regions.Permit(t.Context())
		assert.NoError(t, s.Add(ctx, list[2], nil))
		fail("Table.Query")
		assert.EqualSlices(t, keysOf(assert.All(t, table.Query(ctx, query.Filter{}, everything))), all)
		for _, r := range account.Log() {
			if r.Region == storagetest.Secondary {
				t.Errorf("%s of %s was sent to the secondary", r.Op, r.Resource)
			}
		}
	})
}
