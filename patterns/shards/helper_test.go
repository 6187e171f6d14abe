package shards_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
)

// doc is an entity.
type doc struct {
	PartitionKey, RowKey string
	A                    string
	B                    string `table:",omitempty"`
}

// accounts returns n accounts that are tables of one service.
func accounts(service *aztables.ServiceClient, n int) []shards.Account {
	list := make([]shards.Account, n)
	for i := range list {
		list[i] = shards.Account{Name: fmt.Sprint("account", i), Tables: service, Table: fmt.Sprint("docs", i)}
	}
	return list
}

// onBackend returns n accounts that are new tables of b, and options with a new directory.
func onBackend(t testing.TB, b *harness.Backend, n int) ([]shards.Account, *shards.Options) {
	list := accounts(b.Service(t), n)
	for i := range list {
		list[i].Table = harness.UniqueName()
		b.NamedTable(t, list[i].Table)
	}
	o := &shards.Options{Directory: harness.UniqueName()}
	b.NamedTable(t, o.Directory)
	return list, o
}

// create returns a table in these accounts.
func create(t testing.TB, list []shards.Account, o *shards.Options) (*shards.Shards, *shards.Table[doc]) {
	t.Helper()
	s := assert.Must(shards.New(list, "docs", o))(t)
	assert.NoError(t, s.Create(t.Context()))
	return s, assert.Must(shards.NewTable[doc](s, nil))(t)
}

// fill inserts rows 0 to rows-1 into each of the partitions 0 to partitions-1, and returns their
// keys in key order.
func fill(t testing.TB, table *shards.Table[doc], partitions, rows int) (all []keys.Key) {
	t.Helper()
	for p := range partitions {
		for r := range rows {
			d := doc{PartitionKey: fmt.Sprintf("p%03d", p), RowKey: fmt.Sprintf("r%03d", r), A: fmt.Sprint(p, "/", r)}
			assert.Must(table.Insert(t.Context(), &d))(t)
			all = append(all, keys.Key{Partition: d.PartitionKey, Row: d.RowKey})
		}
	}
	return all
}

func keysOf(items []patterns.Item[doc]) (all []keys.Key) {
	for _, i := range items {
		all = append(all, i.Key)
	}
	return all
}
