package reindex

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type contact struct{ PartitionKey, RowKey, Email, Phone string }

func TestTheSumOfTheSketchesOfAllPartsIsThatOfTheTables(t *testing.T) {
	a := storagetest.Start(&storagetest.Options{PageRows: 5})
	people, phones := a.Tables().NewClient("people"), a.Tables().NewClient("phones")
	for _, c := range []*aztables.Client{people, phones} {
		harness.Must(c.CreateTable(t.Context(), nil))(t)
	}
	email := harness.Must(secondaryindex.Intra("email", func(c *contact) (string, bool) { return c.Email, true }, nil))(t)
	phone := harness.Must(secondaryindex.Inter("phone", phones, func(c *contact) (string, bool) { return c.Phone, true }, nil))(t)
	store := harness.NewStore(t, people, &patterns.StoreOptions[contact]{Views: []patterns.View[contact]{email, phone}, Outbox: new(harness.OutboxQueue)})
	table := harness.NewTable[contact](t, people, nil)
	for i := range 40 {
		c := &contact{fmt.Sprint(i % 4), fmt.Sprint("id", i), fmt.Sprint(i), fmt.Sprint(i)}
		if i%2 == 0 {
			harness.Must(table.Insert(t.Context(), c))(t)
		} else {
			harness.Must(store.Insert(t.Context(), c))(t)
		}
	}
	scan := func(parts func(*run) []Part) (*Sketch, Report) {
		r := harness.Must(newRun(outbox.EngineOf(store), Options{}, nil))(t)
		r.tables, _, _ = tables(t.Context(), r.store, r.store.Views.Views)
		if parts != nil {
			r.state.Parts = parts(r)
		}
		harness.NoError(t, r.scan(t.Context(), class{}))
		return r.sketch, r.state.Report
	}
	whole, want := scan(nil)
	var parts []Part
	none, _ := scan(func(r *run) []Part {
		parts = harness.Must(r.divide(t.Context(), 3))(t)
		return []Part{}
	})
	rows := 0
	for _, p := range slices.Backward(parts) {
		one, report := scan(func(*run) []Part { return []Part{p} })
		harness.NoError(t, none.Merge(one))
		rows += report.Rows
	}
	all, complete := none.clone().Decode()
	x, _ := none.MarshalBinary()
	y, _ := whole.MarshalBinary()
	if len(parts) < 4 || rows != want.Rows || !complete || len(all) != 40 || !bytes.Equal(x, y) {
		t.Errorf("%d parts of %d rows, want %d; %d differences, want 40", len(parts), rows, want.Rows, len(all))
	}
}
