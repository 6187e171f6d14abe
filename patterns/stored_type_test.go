package patterns_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// insertByHand stores a row as a program on aztables does.
func insertByHand(t testing.TB, client *aztables.Client, v any) {
	t.Helper()
	body := assert.Must(json.Marshal(v))(t)
	assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), body, nil)))
}

// readByHand decodes a row as a program on aztables does.
func readByHand(t testing.TB, client *aztables.Client, v any) (types map[string]string) {
	t.Helper()
	reply := assert.Must(client.GetEntity(t.Context(), "p", "r", nil))(t)
	assert.NoError(t, json.Unmarshal(reply.Value, v))
	return storedTypes(t, reply.Value)
}

var rowKey = keys.Key{Partition: "p", Row: "r"}

// Another program could not decode an Edm.Int64, so the type changes only if the tag requires it.
func TestANumberThatTheStoredTypeCannotRepresentIsRefused(t *testing.T) {
	type stock struct {
		PartitionKey, RowKey string
		Stock                int64
	}
	type declared struct {
		PartitionKey, RowKey string
		Stock                int64 `table:",int64"`
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		name := harness.UniqueName()
		client := b.NamedTable(t, name)
		insertByHand(t, b.Direct(t, name), stock{"p", "r", math.MaxInt32})
		table := harness.NewTable[stock](t, client, nil)
		item := harness.Get(t, table, rowKey)
		item.Value.Stock++
		b.ResetRequests()
		for _, op := range []patterns.Op[stock]{patterns.ReplaceOp(item), patterns.MergeOp(item)} {
			_, err := table.Do(ctx, op)
			var bad *patterns.PropertyError
			if !errors.As(err, &bad) || bad.Property != "Stock" || !strings.Contains(err.Error(), `table:",int64"`) {
				t.Errorf("got %v", err)
			}
		}
		b.WantRequestCount(t, 0)
		if _, err := harness.NewTable[declared](t, client, nil).Update(ctx, rowKey, func(s *declared) error { s.Stock++; return nil }); err != nil {
			t.Fatal(err)
		}
		assert.Equal(t, harness.Get(t, table, rowKey).Value.Stock, math.MaxInt32+1, "read")
		if types := readByHand(t, b.Direct(t, name), new(map[string]any)); types["Stock"] != "Edm.Int64" {
			t.Errorf("stored as %v", types)
		}
	})
}

// A selection that a Store reads contains the key properties too, which it then removes.
func TestAMergeOfASelectionOfAStoreKeepsTheStoredType(t *testing.T) {
	type stock struct {
		PartitionKey, RowKey string
		Stock, Other         int
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		table := harness.NewTable[stock](t, b.NamedTable(t, name), nil)
		insertByHand(t, b.Direct(t, name), stock{"p", "r", 1, 2}) // two Edm.Int32
		store := assert.Must(patterns.NewStore(table, nil))(t)
		for item, err := range store.Query(t.Context(), query.PartitionKey.Eq("p"), &patterns.QueryOptions{Select: []string{"Stock"}}) {
			assert.NoError(t, err)
			item.Value.Stock++
			assert.NoError(t, assert.ErrorOf(table.Merge(t.Context(), item)))
		}
		var after stock
		if types := readByHand(t, b.Direct(t, name), &after); after.Stock != 2 || types["Stock"] != "Edm.Int32" {
			t.Errorf("got %v, stored as %v", after, types)
		}
	})
}

func TestRowsWithZeroTimesAreReadAndUpdated(t *testing.T) {
	type visit struct {
		PartitionKey, RowKey string
		N                    int32
		Start, End           time.Time
		Pointer              *time.Time
		SDK                  aztables.EDMDateTime
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for what, row := range map[string]map[string]any{
			"stored as text": {"Start": time.Time{}, "End": time.Time{}, "Pointer": time.Time{}, "SDK": time.Time{}},
			"not stored":     {},
			"year 1601":      {"Start": "1601-01-01T00:00:00Z", "Start@odata.type": "Edm.DateTime"},
		} {
			name := harness.UniqueName()
			table := harness.NewTable[visit](t, b.NamedTable(t, name), nil)
			direct := b.Direct(t, name)
			row["PartitionKey"], row["RowKey"], row["N"] = "p", "r", 0
			insertByHand(t, direct, row)
			want := readByHand(t, direct, new(map[string]any))
			var before, after visit
			readByHand(t, direct, &before)
			for range 2 {
				assert.NoError(t, assert.ErrorOf(table.Update(ctx, rowKey, func(v *visit) error { v.N++; return nil })), what)
			}
			item := harness.Get(t, table, rowKey)
			item.Value.N++
			assert.NoError(t, assert.ErrorOf(table.Merge(ctx, item)), what)
			assert.DeepEqual(t, readByHand(t, direct, &after), want, what, "types", "were")
			if before.N = 3; !reflect.DeepEqual(before, after) {
				t.Errorf("%s: %+v became %+v", what, before, after)
			}
			// A row of this program has no zero times either.
			assert.Equal(t, assert.ErrorOf(table.Insert(ctx, &visit{PartitionKey: "p", RowKey: "2"})), nil, what)
		}
	})
}

// amount is a type whose JSON is a text, as that of decimal numbers is.
type amount struct{ cents int }

func (a amount) MarshalJSON() ([]byte, error) { return json.Marshal(string(rune('0'+a.cents)) + " ct") }

func (a *amount) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	if err == nil {
		a.cents = int(s[0] - '0')
	}
	return err
}

// flag is a type whose JSON is a number.
type flag bool

func (f flag) MarshalJSON() ([]byte, error) {
	return []byte(map[flag]string{true: "1", false: "0"}[f]), nil
}

func (f *flag) UnmarshalJSON(b []byte) error { *f = string(b) == "1"; return nil }

func TestTypesWithJSONMethodsAreStoredAsByAztables(t *testing.T) {
	type order struct {
		PartitionKey, RowKey string
		Total                amount
		Discount             *amount
		Paid                 flag
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		table := harness.NewTable[order](t, b.NamedTable(t, name), nil)
		direct := b.Direct(t, name)
		insertByHand(t, direct, order{"p", "r", amount{1}, &amount{2}, true})
		want := readByHand(t, direct, new(order))
		assert.NoError(t, assert.ErrorOf(table.Update(t.Context(), rowKey, func(o *order) error { o.Total.cents++; o.Discount.cents++; return nil })))
		var got order
		if types := readByHand(t, direct, &got); !reflect.DeepEqual(types, want) || got.Total.cents != 2 || got.Discount.cents != 3 || !bool(got.Paid) {
			t.Errorf("stored as %v, want %v: %+v", types, want, got)
		}
	})
}

// The service refuses nested JSON, so such a field of a program on aztables was never stored.
func TestTheErrorOfAFieldThatAztablesCannotStoreNamesTheChange(t *testing.T) {
	type nested struct {
		PartitionKey, RowKey string
		Tags                 []string `json:"tags"`
	}
	type tagged struct {
		PartitionKey, RowKey string
		Tags                 []string `table:",json" json:"tags,omitempty"`
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		body, err := json.Marshal(nested{"p", "r", []string{"a"}})
		assert.NoError(t, err)
		_, err = direct.AddEntity(t.Context(), body, nil)
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || refused.StatusCode != 400 {
			t.Fatalf("aztables: %v", err)
		}
		for _, err := range []error{
			assert.ErrorOf(patterns.NewTable[nested](client, nil)),
			assert.ErrorOf(patterns.NewTable(client, &patterns.TableOptions[struct{ Tags map[string]int }]{Keyless: true})),
			assert.ErrorOf(patterns.NewTable(client, &patterns.TableOptions[struct{ Tags struct{ A int } }]{Keyless: true})),
		} {
			if err == nil || !strings.Contains(err.Error(), "field Tags: ") || !strings.Contains(err.Error(), `add the tag table:",json"`) {
				t.Errorf("got %v", err)
			}
		}
		// With that tag, the property keeps the name of the json tag, and its omitempty.
		table := harness.NewTable[tagged](t, client, nil)
		harness.Insert(t, table, tagged{"p", "r", []string{"a"}})
		harness.Insert(t, table, tagged{"p", "2", []string{}})
		var row map[string]any
		if readByHand(t, direct, &row); row["tags"] != `["a"]` {
			t.Errorf("stored %v", row)
		}
		if got := harness.Get(t, table, keys.Key{Partition: "p", Row: "2"}); got.Value.Tags != nil {
			t.Errorf("read %v", got.Value)
		}
		if got := harness.Get(t, table, rowKey); !reflect.DeepEqual(got.Value.Tags, []string{"a"}) {
			t.Errorf("read %v", got.Value)
		}
	})
}
