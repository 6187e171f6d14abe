package harness

import (
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Person is an entity with a property of every Go type that has an EDM type.
type Person struct {
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

// NewPerson returns a person of the department "sales" whose properties depend on the name only.
func NewPerson(name string) Person {
	return Person{
		Dept: "sales", Name: name, Age: 42, Badge: 1 << 60, Salary: 3, Active: true,
		Hired: time.Date(2020, 2, 29, 12, 0, 0, 1234500, time.UTC), Photo: []byte{0, 1, 255},
	}
}

// Key returns the key of p.
func (p Person) Key() keys.Key { return keys.Key{Partition: p.Dept, Row: p.Name} }

// People returns a Table on a new, empty table.
func People(t testing.TB, b *Backend) *patterns.Table[Person] {
	t.Helper()
	return NewTable[Person](t, b.Table(t), nil)
}

// NewAccount returns a new in-process account and the name of an empty table in it. Its log is empty.
func NewAccount(t testing.TB) (account *storagetest.Account, table string) {
	t.Helper()
	account, table = storagetest.New(t), UniqueName()
	_, err := account.Tables().CreateTable(t.Context(), table, nil)
	assert.NoError(t, err)
	account.ResetLog()
	return account, table
}

// NewTable is patterns.NewTable and ends the test if it fails.
func NewTable[T any](t testing.TB, client *aztables.Client, opts *patterns.TableOptions[T]) *patterns.Table[T] {
	t.Helper()
	table, err := patterns.NewTable(client, opts)
	assert.NoError(t, err)
	return table
}

// NewStore opens a Store on the table of client and ends the test if that fails.
func NewStore[T any](t testing.TB, client *aztables.Client, opts *patterns.StoreOptions[T]) *patterns.Store[T] {
	t.Helper()
	store, err := patterns.NewStore(NewTable[T](t, client, nil), opts)
	assert.NoError(t, err)
	return store
}

// Rows returns the rows of the table as the service returns them.
func Rows(t testing.TB, client *aztables.Client) [][]byte {
	t.Helper()
	var rows [][]byte
	//azvet:ignore tablescan a test reads all rows
	for pager := client.NewListEntitiesPager(nil); pager.More(); {
		page, err := pager.NextPage(t.Context())
		assert.NoError(t, err)
		rows = append(rows, page.Entities...)
	}
	return rows
}

// Insert inserts v and ends the test if that fails.
func Insert[T any](t testing.TB, table *patterns.Table[T], v T) patterns.Item[T] {
	t.Helper()
	item, err := table.Insert(t.Context(), &v)
	assert.NoError(t, err)
	return item
}

// Get reads the row at key and ends the test if that fails.
func Get[T any](t testing.TB, table *patterns.Table[T], key keys.Key) patterns.Item[T] {
	t.Helper()
	item, err := table.Get(t.Context(), key)
	assert.NoError(t, err)
	return item
}

// ETagOf returns the ETag of the row at key, "" if the row does not exist.
func ETagOf[T any](t testing.TB, table *patterns.Table[T], key keys.Key) azcore.ETag {
	t.Helper()
	item, err := table.Get(t.Context(), key)
	if !errors.Is(err, patterns.ErrNotFound) {
		assert.NoError(t, err)
	}
	return item.ETag
}
