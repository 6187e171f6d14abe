package compoundkey_test

import (
	"encoding/json"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
)

// A program without this package does not store the parts of the key once more.
func TestUpdateAddsNoKeyPropertiesToRowsOfOtherPrograms(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		name := harness.UniqueName()
		f, err := compoundkey.New(b.NamedTable(t, name), employeeID, reviewID, &compoundkey.Options{BareParent: true})
		assert.NoError(t, err)
		direct := b.Direct(t, name)
		rows := map[keys.Key]string{
			{Partition: "Sales", Row: "000123"}:      `{"PartitionKey":"Sales","RowKey":"000123","FirstName":"Jun","Since":"2014-01-01T00:00:00+02:00"}`,
			{Partition: "Sales", Row: "000123_2013"}: `{"PartitionKey":"Sales","RowKey":"000123_2013","ManagerRating":3,"Other":1.5}`,
		}
		for _, row := range rows {
			assert.NoError(t, assert.ErrorOf(direct.AddEntity(ctx, []byte(row), nil)))
		}
		_, _, err = f.Update(ctx, sales("000123"), "2013", func(e *employee, r *review) error {
			e.FirstName, r.ManagerRating = "Ken", 4
			return nil
		})
		assert.NoError(t, err)
		for key, row := range rows {
			reply := assert.Must(direct.GetEntity(ctx, key.Partition, key.Row, nil))(t)
			var was, is map[string]any
			assert.NoError(t, json.Unmarshal([]byte(row), &was))
			assert.NoError(t, json.Unmarshal(reply.Value, &is))
			for _, system := range []string{"odata.etag", "odata.metadata", "Timestamp"} {
				delete(is, system)
			}
			changed := 0
			for name, value := range is {
				if was[name] != value {
					changed++
				}
			}
			assert.Equal(t, changed, 1)
			assert.Equal(t, len(is), len(was))
		}
	})
}
