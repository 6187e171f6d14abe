package reindex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type contact struct{ PartitionKey, RowKey, Email, Phone string }

func TestTheSumOfTheSketchesOfAllPartsIsThatOfTheTables(t *testing.T) {
	account := storagetest.Start(&storagetest.Options{PageRows: 5})
	people, phones := account.Tables().NewClient("people"), account.Tables().NewClient("phones")
	for _, c := range []*aztables.Client{people, phones} {
		assert.Must(c.CreateTable(t.Context(), nil))(t)
	}
	email := secondaryindex.Intra("email", func(c *contact) (string, bool) { return c.Email, true }, nil)
	phone := secondaryindex.Inter("phone", phones, func(c *contact) (string, bool) { return c.Phone, true }, nil)
	store := harness.NewStore(t, people, &patterns.StoreOptions[contact]{Views: []patterns.View[contact]{email, phone}, Outbox: new(harness.OutboxQueue)})
	table := harness.NewTable[contact](t, people, nil)
	for i := range 40 {
		c := &contact{fmt.Sprint(i % 4), fmt.Sprint("id", i), fmt.Sprint(i), fmt.Sprint(i)}
		if i%2 == 0 {
			assert.Must(table.Insert(t.Context(), c))(t)
		} else {
			assert.Must(store.Insert(t.Context(), c))(t)
		}
	}
	scan := func(segments int) (*state, *run) {
		r := assert.Must(newRun(store, state{}))(t)
		assert.NoError(t, r.begin(t.Context(), segments))
		sum := &state{Options: r.Options, Sketch: newSketch(r.Differences)}
		for i := range r.Parts {
			assert.NoError(t, r.do(t.Context(), len(r.Parts)-1-i))
			sum.Sketch.merge(r.Sketch)
			sum.Loose.merge(&r.Loose)
			r.Sketch, r.Loose = newSketch(r.Differences), loose{}
		}
		return sum, r
	}
	x, whole := scan(1)
	y, divided := scan(3)
	a, _ := json.Marshal(x)
	b, _ := json.Marshal(y)
	all, complete, err := y.differences()
	assert.NoError(t, err)
	if len(divided.Parts) < 4 || divided.Report.Rows != whole.Report.Rows || !complete || len(all) != 40 || !bytes.Equal(a, b) {
		t.Errorf("%d parts of %d rows, want %d; %d differences, want 40", len(divided.Parts), divided.Report.Rows, whole.Report.Rows, len(all))
	}
}
