package entitytype_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
)

type (
	visit1 struct {
		Guest string
		At    time.Time
		Price float64
	}
	visit2 struct {
		Visitor string // was Guest
		At      time.Time
		Price   float64
		Later   int64
	}
)

// A row becomes one of the newest version. What that has in common with the stored one keeps its text.
func TestAnUpgradeLeavesCommonPropertiesAsTheyAre(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		name := harness.UniqueName()
		r := newRegistry(t, nil)
		assert.NoError(t, entitytype.Register(r, "Visit", 1, func(v visit1) (any, error) { return visit2{v.Guest, v.At, v.Price, 1}, nil }))
		assert.NoError(t, entitytype.Register[visit2](r, "Visit", 2, nil))
		table := assert.Must(entitytype.New(b.NamedTable(t, name), r, nil))(t)
		direct := b.Direct(t, name)
		assert.Must(direct.AddEntity(ctx, []byte(`{"PartitionKey":"Sales","RowKey":"1","EntityType":"Visit:1","Guest":"Jun","At":"2026-03-01T00:00:00.10+02:00","Price":3,"Other":"x"}`), nil))(t)
		assert.Must(table.Update(ctx, sales("1"), func(e entitytype.Entity) error {
			e.Value.(*visit2).Visitor = "Ken"
			return nil
		}))(t)
		var is map[string]any
		assert.NoError(t, json.Unmarshal(assert.Must(direct.GetEntity(ctx, "Sales", "1", nil))(t).Value, &is))
		for name, want := range map[string]any{"EntityType": "Visit:2", "Visitor": "Ken", "At": "2026-03-01T00:00:00.10+02:00", "Price": 3.0, "Later": "1", "Other": "x", "Guest": nil} {
			assert.Equal(t, is[name], want, name, "is")
		}
	})
}
