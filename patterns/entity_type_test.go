package patterns_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func TestAnUnsupportedTypeIsRefusedWithItsField(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		type badField struct {
			PartitionKey, RowKey string
			Wrong                chan int
		}
		_, err := patterns.NewTable[badField](client, nil)
		if err == nil || !strings.Contains(err.Error(), "Wrong") {
			t.Errorf("got %v", err)
		}
		_, err = patterns.NewTable[struct{ A int32 }](client, nil)
		assert.WantError(t, err, patterns.ErrBadKey)
		_, err = patterns.NewTable[int](client, nil)
		assert.Failed(t, err, "a table of int was accepted")
		_, err = patterns.NewTable[harness.Person](nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
		b.WantRequestCount(t, 0)
	})
}

// Many programs on aztables use no struct.
func TestMapsKeepTheTypesOfTheirProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		at := keys.Key{Partition: "p", Row: "r"}
		when := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
		properties := map[string]any{"A": int32(1), "B": 3.0, "C": when, "D": []byte("x"), "E": "text", "F": true, "G": math.Inf(1), "H": int64(1) << 60}

		entities := harness.NewTable[aztables.EDMEntity](t, client, nil)
		e := aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: at.Partition, RowKey: at.Row}, Properties: map[string]any{}}
		for name, v := range properties {
			e.Properties[name] = v
		}
		harness.Insert(t, entities, e)
		_, err := entities.Update(t.Context(), at, func(e *aztables.EDMEntity) error { e.Properties["E"] = "changed"; return nil })
		assert.NoError(t, err)
		if n := len(assert.All(t, entities.Query(t.Context(), query.And(query.PartitionKey.Eq("p"), query.Prop("A").Eq(int32(1))), nil))); n != 1 {
			t.Errorf("%d rows", n)
		}

		maps := harness.NewTable(t, client, &patterns.TableOptions[map[string]any]{
			Key: func(*map[string]any) (keys.Key, error) { return at, nil },
		})
		item := assert.Must(maps.Get(t.Context(), at))(t)
		properties["E"] = "changed"
		for name, want := range properties {
			assert.DeepEqual(t, item.Value[name], want, name)
		}
		delete(item.Value, "A")
		assert.NoError(t, assert.ErrorOf(maps.Replace(t.Context(), item)))
		if back, err := entities.Get(t.Context(), at); err != nil || back.Value.Properties["A"] != nil || len(back.Value.Properties) != len(properties)-1 {
			t.Errorf("got %v, %v", back.Value.Properties, err)
		}
	})
}

type embeddedKeys struct {
	*aztables.Entity
	N int64
}

func TestKeysMayBeInAnEmbeddedPointer(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[embeddedKeys](t, b.Table(t), nil)
		item := harness.Insert(t, table, embeddedKeys{&aztables.Entity{PartitionKey: "p", RowKey: "r"}, 1})
		item = harness.Get(t, table, item.Key)
		if item.Value.Entity == nil || item.Value.RowKey != "r" || item.Value.N != 1 {
			t.Errorf("read %+v", item.Value)
		}
		item, err := table.Update(t.Context(), item.Key, func(e *embeddedKeys) error { e.N++; return nil })
		assert.NoError(t, err)
		assert.Equal(t, item.Value.N, 2)
		b.ResetRequests()
		// The zero key is legal, so a nil struct must not be stored under it.
		_, err = table.Upsert(t.Context(), &embeddedKeys{N: 1}, patterns.Replace)
		assert.WantError(t, err, patterns.ErrBadKey)
		_, err = table.Batch().Insert(&embeddedKeys{N: 1}).Commit(t.Context())
		assert.WantError(t, err, patterns.ErrBadKey)
		b.WantRequestCount(t, 0)
	})
}

// selfMade has JSON methods that do not encode its fields.
type selfMade struct {
	PartitionKey, RowKey string
	N                    int64
}

func (selfMade) MarshalJSON() ([]byte, error) { return []byte(`{"Other":1}`), nil }

func (*selfMade) UnmarshalJSON([]byte) error { return errors.New("not to be called") }

func TestJSONMethodsOfATypeAreIgnored(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[selfMade](t, b.Table(t), nil)
		v := selfMade{"p", "r", 1}
		harness.Insert(t, table, v)
		item := harness.Get(t, table, keys.Key{Partition: "p", Row: "r"})
		if _, other := item.Property("Other"); item.Value != v || other {
			t.Errorf("read %+v", item.Value)
		}
	})
}

// existing is a struct of a program on aztables.
type existing struct {
	aztables.Entity
	Age   int32
	Big   aztables.EDMInt64
	When  aztables.EDMDateTime `json:"when"`
	ID    aztables.EDMGUID
	Bytes aztables.EDMBinary
	Skip  string `json:"-"`
	Maybe string `json:"maybe,omitempty"`
}

func TestStructsOfExistingAztablesCodeWorkUnchanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[existing](t, b.Table(t), nil)
		v := existing{
			Entity: aztables.Entity{PartitionKey: "p", RowKey: "r"},
			Age:    7, Big: 1<<62 + 1, ID: "0f8fad5b-d9cb-469f-a165-70867728950e", Bytes: []byte("x"), Skip: "not stored",
			When: aztables.EDMDateTime(time.Date(2024, 1, 2, 3, 4, 5, 600, time.UTC)),
		}
		harness.Insert(t, table, v)
		key := keys.Key{Partition: "p", Row: "r"}
		item := assert.Must(table.Update(t.Context(), key, func(e *existing) error { e.Age++; return nil }))(t)
		got := harness.Get(t, table, key)
		if got.ETag != item.ETag || got.Value.Age != 8 || got.Value.Big != v.Big || got.Value.ID != v.ID ||
			string(got.Value.Bytes) != "x" || !time.Time(got.Value.When).Equal(time.Time(v.When)) || got.Value.Skip != "" {
			t.Errorf("read %+v", got.Value)
		}
		assert.Equal(t, got.Value.PartitionKey, "p")
		assert.Equal(t, got.Value.RowKey, "r")
	})
}
