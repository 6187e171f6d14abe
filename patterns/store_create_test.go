package patterns_test

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// spreadStore is a Store whose views have rows in its own table, another table and blobs.
func spreadStore(t *testing.T, own, other *aztables.Client, blobs *container.Client, queue *azqueue.QueueClient) *patterns.Store[harness.Person] {
	t.Helper()
	view := func(name string, target patterns.Target) patterns.View[harness.Person] {
		return patterns.ViewOf(name, patterns.Shape{Target: target, Remote: true}, func(p *harness.Person) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: name, Row: p.Name}, patterns.CopySpec{})}, nil
		})
	}
	name := func(p *harness.Person) (string, bool) { return p.Name, true }
	index := indexentity.InterBlob("names", blobs, name, nil)
	outbox, err := eventual.NewOutbox(queue, "", nil)
	assert.NoError(t, err)
	shared := patterns.TableTarget("other", other)
	return harness.NewStore(t, own, &patterns.StoreOptions[harness.Person]{
		Views:  []patterns.View[harness.Person]{view("here", nil), view("there", shared), view("there2", shared), index},
		Outbox: outbox,
	})
}

func TestCreateCreatesEverythingThatAStoreNeeds(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		tables := b.Service(t)
		s := spreadStore(t, tables.NewClient(name), tables.NewClient(name+"x"), b.Account.Container(name), b.Account.Queue(name))
		want := map[string]int{"Table.CreateTable": 2, "Blob.CreateContainer": 1, "Queue.CreateQueue": 1, "Table.Query": 1, "Table.Get": 1, "Table.Insert": 2}
		for range 2 { // what exists is not an error
			b.ResetRequests()
			assert.NoError(t, s.Create(t.Context()))
			b.WantRequests(t, want)
			for _, owner := range []string{"Table.Query", "Table.Get", "Table.Insert"} {
				delete(want, owner) // the Store knows the owner of its views
			}
		}
		v := harness.NewPerson("ann")
		assert.Must(s.Insert(t.Context(), &v))(t)
		if got := collect(t, s, query.PartitionKey.Eq(v.Dept), nil); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestCreateAcceptsWhatExists(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := spreadStore(t, b.Table(t), b.Table(t), b.Container(t), b.Queue(t))
		assert.NoError(t, s.Create(t.Context()))
		b.WantRequestCount(t, 8) // two views in another table
		assert.NoError(t, s.Create(t.Context()))
		b.WantRequestCount(t, 4)
		local := harness.NewStore[harness.Person](t, b.Table(t), nil)
		assert.NoError(t, local.Create(t.Context()))
		b.WantRequestCount(t, 1)
		memory := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[harness.Person]{Outbox: &harness.OutboxQueue{}})
		assert.NoError(t, memory.Create(t.Context()))
		b.WantRequestCount(t, 1)
	})
}

func TestCreateNamesEverythingThatItCannotCreate(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for request, name := range map[string]string{
			"Table.CreateTable": "table of the primaries", "Blob.CreateContainer": "view names", "Queue.CreateQueue": "outbox", "*": "view there",
		} {
			s := spreadStore(t, b.Table(t), b.Table(t), b.Container(t), b.Queue(t))
			b.ClearFaults()
			b.Fault(storagetest.On(request).Status(403, "AuthorizationFailure"))
			err := s.Create(t.Context())
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", request, err)
			}
			b.WantRequestCount(t, 4) // it goes on
		}
	})
}

func TestCreateSendsNothingAfterItsContextEnded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := spreadStore(t, b.Table(t), b.Table(t), b.Container(t), b.Queue(t))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.WantError(t, s.Create(ctx), context.Canceled)
		b.WantRequestCount(t, 0)
	})
}
