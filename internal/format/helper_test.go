package format_test

import (
	"encoding/json"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// equal fails if got is not want.
func (w *world) equal(got, want any) {
	w.Helper()
	if !reflect.DeepEqual(got, want) {
		w.Errorf("got %v, want %v", got, want)
	}
}

// property returns a property of a stored row as the service writes it in JSON, nil if there is none.
func (w *world) property(table string, key keys.Key, name string) any {
	w.Helper()
	resp, err := w.Tables().NewClient(table).GetEntity(w.Context(), key.Partition, key.Row, nil)
	w.must(err)
	row := map[string]any{}
	w.must(json.Unmarshal(resp.Value, &row))
	return row[name]
}

func loseReply(op string) storagetest.Rule { return storagetest.On(op).Nth(1).LoseReply() }

func partition(name string) query.Filter { return query.PartitionKey.Eq(name) }

// diesAt lets a process die at its n-th request of a kind.
func diesAt(n int, op string) storagetest.Rule {
	count := 0
	return storagetest.On("*").Where(func(q storagetest.Request) bool {
		if q.Op == op {
			count++
		}
		return count >= n
	}).LoseRequest().Times(storagetest.Forever)
}

func shortPages(rows int) storagetest.Rule {
	return storagetest.On("Table.Query").ShortPage(rows).Times(storagetest.Forever)
}

func shortLists(blobs int) storagetest.Rule {
	return storagetest.On("Blob.List").ShortPage(blobs).Times(storagetest.Forever)
}

// attached returns a client with the options that attach extends.
func (w *world) attached(attach func(*azcore.ClientOptions)) *aztables.ServiceClient {
	w.Helper()
	var opts aztables.ClientOptions
	opts.Transport = w.Transport()
	attach(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString(w.ConnectionString(), &opts)
	w.must(err)
	return service
}
