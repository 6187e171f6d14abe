package wideentity_test

import (
	"errors"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"testing"
)

func TestPagesMayHaveAnySize(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(500)
		harness.Must(table.Insert(t.Context(), year, &v))(t)
		for _, rule := range []storagetest.Rule{
			storagetest.On("Table.Query").ShortPage(1), storagetest.On("Table.Query").ShortPage(5), storagetest.On("Table.Query").EmptyPage(),
		} {
			b.ClearFaults()
			b.Fault(rule)
			wantProperties(t, harness.Must(table.Get(t.Context(), year))(t).Value, v)
			part := harness.Must(table.Read(t.Context(), year, dayName(1), dayName(2), dayName(3)))(t)
			wantProperties(t, part.Value, only(v, []string{dayName(1), dayName(2), dayName(3)}))
		}
	})
}

// Another program has deleted a row. Writing the whole entity repairs it.
func TestAMissingRowIsAnError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options{Parts: 3, Tries: 2})
		v := days(50)
		harness.Must(table.Insert(t.Context(), year, &v))(t)
		if _, err := client.DeleteEntity(t.Context(), year.Partition, year.Row+"_02", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Get(t.Context(), year); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("get: %v", err)
		}
		names := []string{dayName(1), dayName(2), dayName(3), dayName(4), dayName(5)}
		if _, err := table.Read(t.Context(), year, names...); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("read: %v", err)
		}
		if err := table.Set(t.Context(), year, &v, names...); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("set: %v", err)
		}
		few := properties{"X": int32(1)} // has no property in the missing row
		harness.Must(table.Put(t.Context(), year, &few))(t)
		wantProperties(t, harness.Must(table.Get(t.Context(), year))(t).Value, few)
	})
}
