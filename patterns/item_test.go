package patterns_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func TestAProjectedItemCanBeMergedButNotReplaced(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		harness.Insert(t, table, ann)
		var item patterns.Item[harness.Person]
		for it, err := range table.Query(ctx, query.PartitionKey.Eq("sales"), &patterns.QueryOptions{Select: []string{"Age"}}) {
			assert.NoError(t, err)
			item = it
		}
		if !item.Projected() || item.Value.Age != ann.Age || item.Value.Badge != 0 {
			t.Fatalf("read %+v", item)
		}
		b.ResetRequests()
		_, err := table.Replace(ctx, item)
		assert.WantError(t, err, patterns.ErrProjected)
		_, err = table.Batch().Replace(item).Commit(ctx)
		assert.WantError(t, err, patterns.ErrProjected)
		b.WantRequestCount(t, 0)

		item.Value.Age++
		merged, err := table.Merge(ctx, item)
		assert.NoError(t, err)
		_, err = table.Replace(ctx, merged)
		assert.WantError(t, err, patterns.ErrProjected)
		merged.Value.Age++
		assert.NoError(t, assert.ErrorOf(table.Batch().Merge(merged).Commit(ctx)))
		ann.Age += 2
		assert.DeepEqual(t, harness.Get(t, table, ann.Key()).Value, ann, "the row is")
	})
}

// keylessEntity has no key, and a field that a projection can leave out.
type keylessEntity struct {
	Name  string
	Count int64
}

// The key function needs a property that the projection omits.
func TestAProjectedItemIsMergedAtTheKeyItWasReadFrom(t *testing.T) {
	incomplete := errors.New("no name, no key")
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table, err := patterns.NewTable(b.Table(t), &patterns.TableOptions[keylessEntity]{Key: func(p *keylessEntity) (keys.Key, error) {
			if p.Name == "" {
				return keys.Key{}, incomplete
			}
			return keys.Key{Partition: "p", Row: p.Name}, nil
		}})
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), &keylessEntity{"a", 1})))
		for item, err := range table.Query(t.Context(), query.PartitionKey.Eq("p"), &patterns.QueryOptions{Select: []string{"Count"}}) {
			assert.NoError(t, err)
			item.Value.Count = 2
			assert.NoError(t, assert.ErrorOf(table.Merge(t.Context(), item)))
		}
		item, err := table.Get(t.Context(), keys.Key{Partition: "p", Row: "a"})
		assert.NoError(t, err)
		assert.Equal(t, item.Value, keylessEntity{"a", 2})
	})
}

func TestTextsThatCannotBeAddedAreRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		b.ResetRequests()
		for name, text := range map[string]string{
			"Kind": "a\xffb", "": "x", "a\xffb": "x", "Quote\xff\"": `x","More":1`, `a"b`: "x", "N@odata.type": "Edm.Int64", "RowKey": "x", strings.Repeat("n", 256): "x", "Long": strings.Repeat("x", 32<<10+1),
		} {
			_, err := table.Do(t.Context(), patterns.InsertOp(&counter{"hits", "0", 1}).With(name, text))
			var e *patterns.PropertyError
			if !errors.As(err, &e) || e.Property != name {
				t.Errorf("%q: %v", name, err)
			}
		}
		b.WantRequestCount(t, 0)
		item := assert.Must(table.Do(t.Context(), patterns.InsertOp(&counter{"hits", "0", 1}).With("Kind", "a\xff").With("Kind", "2")))(t)
		for what, item := range map[string]patterns.Item[counter]{"written": item, "read": harness.Get(t, table, tally)} {
			if kind, _ := item.Property("Kind"); kind != "2" {
				t.Errorf("%s: %v", what, kind)
			}
		}
	})
}

func TestAWrittenItemKeepsThePropertiesThatWithAdded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, stamped := range []bool{false, true} {
			table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: stamped})
			v := counter{"hits", "0", 1}
			item, err := table.Do(t.Context(), patterns.InsertOp(&v).With("Kind", "counter"))
			assert.NoError(t, err)
			item.Value.N = 2
			if item, err = table.Replace(t.Context(), item); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.MergeOp(item).With("More", "text")); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.ReplaceOp(item).With("Kind", "tally")); err != nil {
				t.Fatal(err)
			}
			for what, item := range map[string]patterns.Item[counter]{"written": item, "read": harness.Get(t, table, tally)} {
				kind, _ := item.Property("Kind")
				if more, _ := item.Property("More"); kind != "tally" || more != "text" || item.Value.N != 2 {
					t.Errorf("%s: %+v with %v and %v", what, item.Value, kind, more)
				}
			}
		}
	})
}

// anything has a field for every property.
type anything struct {
	Properties map[string]any `table:",bag,reserved"`
}

func TestTheJSONOfARowHasEveryTypeAndValue(t *testing.T) {
	first, last := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC)
	want := map[string]any{
		"Int32": int32(math.MinInt32), "Int64": int64(math.MaxInt64), "Small": int64(1), "Whole": 3.0, "Half": 0.5, "Tiny": 5e-324, "Huge": math.MaxFloat64,
		"Infinite": math.Inf(1), "Negative": math.Inf(-1), "MinusZero": math.Copysign(0, -1), "First": first, "Last": last,
		"Guid": [16]byte{1, 15: 255}, "Binary": []byte{0, 255}, "Empty": []byte{}, "Yes": true, "No": false,
		"Text": "\x00\"\\<>&\u2028\U0001F600\ufffd", "azp_view": "email",
	}
	for i := range 252 - len(want) - 1 {
		want[fmt.Sprint("P", i)] = int32(i)
	}
	item := patterns.Item[anything]{Key: keys.Key{Partition: "it's \U0001F600", Row: ""}, Value: anything{maps.Clone(want)}, ETag: "x", Timestamp: first}
	item.Value.Properties["NotANumber"] = math.NaN()
	text := assert.Must(patterns.EncodeJSON(item))(t)
	read := assert.Must(patterns.DecodeJSON[anything](text))(t)
	nan, _ := read.Value.Properties["NotANumber"].(float64)
	delete(read.Value.Properties, "NotANumber")
	minusZero, _ := read.Value.Properties["MinusZero"].(float64)
	if read.Key != item.Key || read.ETag != "" || !read.Timestamp.IsZero() || !reflect.DeepEqual(read.Value.Properties, want) || nan == nan || !math.Signbit(minusZero) {
		t.Errorf("read %+v of\n%s", read, text)
	}
	// Rows are compared by their JSON.
	other := assert.Must(patterns.DecodeJSON[anything](text))(t)
	assert.Equal(t, string(assert.Must(patterns.EncodeJSON(other))(t)), string(text), text)
}

func TestTheJSONOfAnItemKeepsItsUnknownPropertiesAndStoredTypes(t *testing.T) {
	const text = `{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","Timestamp":"2020-01-01T00:00:00Z","Count":7,"Name":"n",` +
		`"Other@odata.type":"Edm.Int64","Other":"5","azp_stamp":"s","X":null}`
	item := assert.Must(patterns.DecodeJSON[keylessEntity]([]byte(text)))(t)
	other, _ := item.Property("Other")
	if item.ETag != `W/"1"` || item.Timestamp.Year() != 2020 || item.Value != (keylessEntity{"n", 7}) || other != int64(5) || item.Projected() {
		t.Errorf("read %+v", item)
	}
	again, err := patterns.EncodeJSON(item)
	if want := `{"PartitionKey":"p","RowKey":"r","Name":"n","Count":7,"Other@odata.type":"Edm.Int64","Other":"5"}`; err != nil || string(again) != want {
		t.Errorf("wrote %s, %v\nwant  %s", again, err, want)
	}
	row := assert.Must(patterns.DecodeJSON[patterns.Row](again))(t)
	assert.Equal(t, assert.Must(patterns.Decode[keylessEntity](row))(t).Value, item.Value)
}

func TestJSONThatWouldChangeARowUnnoticedIsRefused(t *testing.T) {
	for members, property := range map[string]string{
		`"A":3000000000`: "A",
		`"A":"2020-01-01T00:00:00.12345678Z","A@odata.type":"Edm.DateTime"`: "A",
		`"A":"12","A@odata.type":"Edm.Boolean"`:                             "A",
		`"A":"","A@odata.type":"Edm.Double"`:                                "A",
		`"A":"1 2","A@odata.type":"Edm.Int32"`:                              "A",
		`"A":1,"A":2`:                                                       "",
		`"\ud800":1`:                                                        "",
		"\"A\":\"\xff\"":                                                    "",
		`"A":"\ud800","B":"\u`:                                              "",
		`"A":{}`:                                                            "A",
		`"A":1}{"B":1`:                                                      "",
		`"PartitionKey":"q"`:                                                "",
		`"A":1,"A@odata.type":"Edm"`:                                        "A",
	} {
		_, err := patterns.DecodeJSON[anything]([]byte(`{"PartitionKey":"p","RowKey":"r",` + members + `}`))
		var e *patterns.PropertyError
		ok := errors.As(err, &e)
		if err == nil || ok != (property != "") || ok && e.Property != property {
			t.Errorf("%s: %v", members, err)
		}
	}
	for _, text := range []string{``, `[]`, `{}`, `{"PartitionKey":"p"}`, `{"PartitionKey":"p","RowKey":null}`, `{"PartitionKey":1,"RowKey":"r"}`} {
		assert.Failed(t, assert.ErrorOf(patterns.DecodeJSON[anything]([]byte(text))), text, "is a row")
	}
	assert.Failed(t, assert.ErrorOf(patterns.DecodeJSON[int](nil)), "an int is a row")
	for _, properties := range []map[string]any{{"1A": true}, {"A": struct{}{}}, {"A": "\xff"}, {"A": time.Unix(1<<40, 0)}} {
		_, err := patterns.EncodeJSON(patterns.Item[anything]{Value: anything{properties}})
		if !errors.As(err, new(*patterns.PropertyError)) {
			t.Errorf("%v: %v", properties, err)
		}
	}
	assert.Failed(t, assert.ErrorOf(patterns.EncodeJSON(patterns.Item[int]{})), "an int has JSON")
}
