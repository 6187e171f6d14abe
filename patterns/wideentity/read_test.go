package wideentity_test

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"testing"
)

func TestPagesMayHaveAnySize(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(500)
		assert.Must(table.Insert(t.Context(), &v))(t)
		for _, rule := range []storagetest.Rule{
			storagetest.On("Table.Query").ShortPage(1), storagetest.On("Table.Query").ShortPage(5), storagetest.On("Table.Query").EmptyPage(),
		} {
			b.ClearFaults()
			b.Fault(rule)
			wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
			part := assert.Must(table.GetOnly(t.Context(), year, dayName(1), dayName(2), dayName(3)))(t)
			wantProperties(t, part.Value, only(v, []string{dayName(1), dayName(2), dayName(3)}))
		}
	})
}

// Another program has deleted a row. Writing the whole entity repairs it.
func TestAMissingRowIsAnError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 3, Tries: 2})
		v := days(50)
		assert.Must(table.Insert(t.Context(), &v))(t)
		assert.NoError(t, assert.ErrorOf(client.DeleteEntity(t.Context(), year.Partition, year.Row+"_02", nil)))
		assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), year)), wideentity.ErrTorn, "get")
		names := []string{dayName(1), dayName(2), dayName(3), dayName(4), dayName(5)}
		assert.WantError(t, assert.ErrorOf(table.GetOnly(t.Context(), year, names...)), wideentity.ErrTorn, "read")
		assert.WantError(t, mergeAny(t.Context(), table, year, &v, names...), wideentity.ErrTorn, "set")
		few := properties{"X": int32(1)} // has no property in the missing row
		assert.Must(table.Put(t.Context(), &few))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, few)
	})
}
