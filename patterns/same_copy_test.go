package patterns_test

import (
	"encoding/json"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// settings distinguishes missing values and zero ones.
type settings struct {
	PartitionKey, RowKey string
	Name                 string
	Count                *int64
	Active               *bool
	Flags                map[string]bool `table:",json"`
	More                 struct {
		On *bool `json:"on,omitempty"`
	} `table:",json"`
}

// A copy has a value that was missing and is zero now, and lacks it again afterwards, also if only
// Repair sees the change.
func TestACopyDistinguishesZeroAndMissingIfTheTypeDoes(t *testing.T) {
	zero := func(e *settings) error {
		e.Count, e.Active, e.More.On = new(int64), new(bool), new(bool)
		e.Flags = map[string]bool{"x": false}
		return nil
	}
	missing := func(e *settings) error {
		*e = settings{PartitionKey: e.PartitionKey, RowKey: e.RowKey, Name: e.Name}
		return nil
	}
	text := func(e *settings) string {
		e.PartitionKey, e.RowKey = "", ""
		text, _ := json.Marshal(e)
		return string(text)
	}
	name := func(e *settings) (string, bool) { return e.Name, e.Name != "" }
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		views := map[string]patterns.View[settings]{
			"intra": secondaryindex.Intra("byName", name, nil),
			"inter": secondaryindex.Inter("byName", nil, name, nil),
		}
		for kind, view := range views {
			for _, repaired := range []bool{false, true} {
				table := harness.NewTable[settings](t, b.Table(t), nil)
				store := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[settings]{
					Views: []patterns.View[settings]{view}, Outbox: &harness.OutboxQueue{},
				}))(t)
				assert.Must(store.Insert(t.Context(), &settings{PartitionKey: "p", RowKey: "r", Name: "n"}))(t)
				for _, change := range []func(*settings) error{zero, missing} {
					if repaired {
						assert.Must(table.Update(t.Context(), rowKey, change))(t)
						assert.NoError(t, store.Repair(t.Context(), rowKey))
					} else {
						assert.Must(store.Update(t.Context(), rowKey, change))(t)
					}
					want := settings{Name: "n"}
					assert.NoError(t, change(&want))
					rows := 0
					for _, item := range assert.All(t, table.Query(t.Context(), query.Prop("Name").Eq("n"), &patterns.QueryOptions{Allow: query.TableScan})) {
						rows++
						assert.Equal(t, text(&item.Value), text(&want), kind, "repaired", repaired)
					}
					assert.Equal(t, rows, 2, kind, "rows")
				}
			}
		}
	})
}
