package patterns_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// unknownProperties are properties without a field of counter, of every type, with values that
// other types do not preserve.
const unknownProperties = `{
	"PartitionKey": "hits", "RowKey": "0",
	"N@odata.type": "Edm.Int64", "N": "1",
	"WholeDouble@odata.type": "Edm.Double", "WholeDouble": 3.0,
	"Double": 2.5,
	"Huge@odata.type": "Edm.Double", "Huge": 1e300,
	"Zero@odata.type": "Edm.Double", "Zero": 0.0,
	"NaN@odata.type": "Edm.Double", "NaN": "NaN",
	"Infinity@odata.type": "Edm.Double", "Infinity": "-Infinity",
	"Int32": -7,
	"Int64@odata.type": "Edm.Int64", "Int64": "9007199254740993",
	"Date@odata.type": "Edm.DateTime", "Date": "2024-02-29T12:34:56.1234567Z",
	"Guid@odata.type": "Edm.Guid", "Guid": "0f8fad5b-d9cb-469f-a165-70867728950e",
	"Binary@odata.type": "Edm.Binary", "Binary": "AAH+/w==",
	"Bool": false,
	"Text": "quotes ' \" \\ <&> 😀 \u2028 \u0001",
	"Digits": "00123",
	"Looks": "2024-02-29T12:34:56Z",
	"Empty": ""
}`

// storedRow returns the stored row without the properties that change with every write.
func storedRow(t testing.TB, client *aztables.Client) map[string]any {
	t.Helper()
	reply := assert.Must(client.GetEntity(t.Context(), "hits", "0", nil))(t)
	var m map[string]any
	assert.NoError(t, json.Unmarshal(reply.Value, &m))
	for _, name := range []string{"Timestamp", "odata.etag", "odata.metadata", "N", "azp_stamp"} {
		delete(m, name)
	}
	return m
}

func TestUnknownPropertiesKeepTheirTypes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for _, stamped := range []bool{false, true} {
			name := harness.UniqueName()
			table := harness.NewTable(t, b.NamedTable(t, name), &patterns.TableOptions[counter]{StampWrites: stamped})
			direct := b.Direct(t, name)
			assert.NoError(t, assert.ErrorOf(direct.AddEntity(ctx, []byte(unknownProperties), nil)))
			want := storedRow(t, direct)
			if want["WholeDouble@odata.type"] != "Edm.Double" && want["WholeDouble"] != 3.0 || want["Int64@odata.type"] != "Edm.Int64" {
				t.Fatalf("the service has lost the types already: %v", want)
			}
			same := func(step string) {
				t.Helper()
				if got := storedRow(t, direct); !reflect.DeepEqual(got, want) {
					for k := range want {
						assert.DeepEqual(t, got[k], want[k], step, k, "is", "was")
					}
					t.Errorf("%s: %v", step, got)
				}
			}
			assert.NoError(t, assert.ErrorOf(table.Update(ctx, tally, addOne)))
			same("update")
			item := harness.Get(t, table, tally)
			item.Value.N++
			item, err := table.Replace(ctx, item)
			assert.NoError(t, err)
			same("replace")
			item.Value.N++
			if item, err = table.Merge(ctx, item); err != nil {
				t.Fatal(err)
			}
			same("merge")
			item.Value.N++
			if _, err = table.Replace(ctx, item); err != nil { // an Item that a write returned
				t.Fatal(err)
			}
			same("replace after a merge")
			for it, err := range table.Query(ctx, query.PartitionKey.Eq("hits"), nil) {
				assert.NoError(t, err)
				assert.NoError(t, assert.ErrorOf(table.Batch().Replace(it).Commit(ctx)))
			}
			same("replace in a transaction of what a query read")
			assert.Equal(t, harness.Get(t, table, tally).Value.N, 5, "the counter is")
			assert.NoError(t, assert.ErrorOf(table.Upsert(ctx, &counter{"hits", "0", 9}, patterns.Replace)))
			if left := storedRow(t, direct); len(left) != 3 { // keys, and the annotation of N
				t.Errorf("after an upsert that replaces: %v", left)
			}
		}
	})
}
