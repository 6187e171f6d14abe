package patterns_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Code written for aztables often has no struct at all.
func TestEntitiesWithoutAStructKeepTheirTypes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		at := keys.Key{Partition: "p", Row: "r"}
		when := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
		properties := map[string]any{"A": int32(1), "B": 3.0, "C": when, "D": []byte("x"), "E": "text", "F": true, "G": math.Inf(1), "H": int64(1) << 60}

		entities := newTable[aztables.EDMEntity](t, client, nil)
		e := aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: at.Partition, RowKey: at.Row}, Properties: map[string]any{}}
		for name, v := range properties {
			e.Properties[name] = v
		}
		insert(t, entities, e)
		_, err := entities.Update(t.Context(), at, func(e *aztables.EDMEntity) error { e.Properties["E"] = "changed"; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if n := len(collect(t, entities.Query(t.Context(), query.And(query.PartitionKey.Eq("p"), query.Prop("A").Eq(int32(1))), nil))); n != 1 {
			t.Errorf("%d rows", n)
		}

		maps := newTable(t, client, &patterns.TableOptions[map[string]any]{
			Key: func(*map[string]any) (keys.Key, error) { return at, nil },
		})
		item, err := maps.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		properties["E"] = "changed"
		for name, want := range properties {
			if got := item.Value[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %T %v, want %T %v", name, got, got, want, want)
			}
		}
		delete(item.Value, "A")
		if _, err := maps.Replace(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		if back, err := entities.Get(t.Context(), at); err != nil || back.Value.Properties["A"] != nil || len(back.Value.Properties) != len(properties)-1 {
			t.Errorf("got %v, %v", back.Value.Properties, err)
		}
	})
}
