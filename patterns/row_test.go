package patterns_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// person is a row with a property of every Go type that has an EDM type.
type person struct {
	Dept   string `table:"PartitionKey"`
	Name   string `table:"RowKey"`
	Age    int32
	Badge  int64
	Salary float64
	Active bool
	Hired  time.Time
	Photo  []byte
	Note   string `table:",omitempty"`
}

func (p person) key() keys.Key { return keys.Key{Partition: p.Dept, Row: p.Name} }

func somebody(name string) person {
	return person{
		Dept: "sales", Name: name, Age: 42, Badge: 1 << 60, Salary: 3, Active: true,
		Hired: time.Date(2020, 2, 29, 12, 0, 0, 1234500, time.UTC), Photo: []byte{0, 1, 255},
	}
}

// counter is a row whose content does not tell who wrote it.
type counter struct {
	Name  string `table:"PartitionKey"`
	Shard string `table:"RowKey"`
	N     int64
}

var tally = keys.Key{Partition: "hits", Row: "0"}

func (c counter) key() keys.Key { return keys.Key{Partition: c.Name, Row: c.Shard} }

func newTable[T any](t testing.TB, client *aztables.Client, opts *patterns.TableOptions[T]) *patterns.Table[T] {
	t.Helper()
	table, err := patterns.NewTable(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func people(t testing.TB, b *harness.Backend) *patterns.Table[person] {
	t.Helper()
	return newTable[person](t, b.Table(t), nil)
}

func insert[T any](t testing.TB, table *patterns.Table[T], v T) patterns.Item[T] {
	t.Helper()
	item, err := table.Insert(t.Context(), &v)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func get[T any](t testing.TB, table *patterns.Table[T], key keys.Key) patterns.Item[T] {
	t.Helper()
	item, err := table.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// etagOf is the version of the row, "" where there is none.
func etagOf[T any](t testing.TB, table *patterns.Table[T], key keys.Key) azcore.ETag {
	t.Helper()
	item, err := table.Get(t.Context(), key)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		t.Fatal(err)
	}
	return item.ETag
}

func wantError(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

// cost asserts what was sent since the last call.
func cost(t testing.TB, b *harness.Backend, requests int) {
	t.Helper()
	if log := b.Requests(); len(log) != requests {
		t.Errorf("%d requests, want %d:\n%v", len(log), requests, log)
	}
	b.ResetRequests()
}

// silent asserts that a message, which ends up in logs, holds none of the secrets.
func silent(t testing.TB, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		return
	}
	for _, s := range secrets {
		if strings.Contains(err.Error(), s) {
			t.Errorf("the message %q holds %q", err, s)
		}
	}
}

func partitionIs(pk string) query.Filter { return query.PartitionKey.Eq(pk) }

var (
	everything query.Filter
	allowScan  = &patterns.QueryOptions{Allow: query.TableScan}
)

// leaked asserts that no goroutine was left behind.
func leaked(t testing.TB, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
