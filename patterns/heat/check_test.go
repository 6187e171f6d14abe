package heat_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type eventID struct {
	Employee string
	Number   int `key:"digits=6"`
}

func TestCheckFindsWhatTheLayoutWillCost(t *testing.T) {
	layout := assert.Must(keys.NewLayout[eventID](nil))(t)
	row := func(i int) string {
		k := assert.Must(layout.Format(eventID{fmt.Sprint("e", i%40), i}))(t)
		return k
	}
	write := func(partition func(i int, at time.Time) string, perSecond float64) heat.Access {
		return heat.Write("write", func(i int, at time.Time) (keys.Key, error) {
			return keys.Key{Partition: partition(i, at), Row: row(i)}, nil
		}, perSecond)
	}
	hour := func(_ int, at time.Time) string { return at.Format("2006010215") }
	for name, c := range map[string]struct {
		access []heat.Access
		want   []heat.Kind
	}{
		"hour":           {[]heat.Access{write(hour, 2500)}, []heat.Kind{heat.AppendOnly}},
		"inverted hour":  {[]heat.Access{write(func(_ int, at time.Time) string { return fmt.Sprint(9e9 - at.Unix()/3600) }, 2500)}, []heat.Kind{heat.PrependOnly}},
		"slow hour":      {[]heat.Access{write(hour, 5)}, nil},
		"one partition":  {[]heat.Access{write(func(int, time.Time) string { return "events" }, 2500)}, []heat.Kind{heat.HotPartition}},
		"employee":       {[]heat.Access{write(func(i int, _ time.Time) string { return fmt.Sprint("e", i*7919%40) }, 2500)}, nil},
		"scan":           {[]heat.Access{heat.Read("by text", query.Prop("Text").Eq("x"), 1)}, []heat.Kind{heat.TableScans}},
		"point":          {[]heat.Access{heat.Read("one", query.And(query.PartitionKey.Eq("a"), query.RowKey.Eq("b")), 10)}, nil},
		"a row for all":  {[]heat.Access{heat.Read("one", query.And(query.PartitionKey.Eq("a"), query.RowKey.Eq("b")), 2500)}, []heat.Kind{heat.HotRow}},
		"read partition": {[]heat.Access{heat.Read("all", query.PartitionKey.Eq("a"), 10)}, nil},
	} {
		costs, found, err := heat.Check("Events", c.access...)
		assert.NoError(t, err)
		var got []heat.Kind
		for _, f := range found {
			got = append(got, f.Kind)
		}
		assert.Equal(t, fmt.Sprint(got), fmt.Sprint(c.want), name, "found", found, "want", c.want)
		assert.Equal(assert.Now(t), len(costs), 1, name)
		assert.Equal(t, costs[0].Requests, 1, name)
	}
}

func TestCheckCostsAStoreAsItsExplain(t *testing.T) {
	table := assert.Must(patterns.NewTable[order](storagetest.New(t).Tables().NewClient("Orders"), nil))(t)
	byText := secondaryindex.Intra("text", func(o *order) (string, bool) { return o.Text, true }, nil)
	store := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[order]{Views: []patterns.View[order]{byText}}))(t)
	costs, found, err := heat.Check("Orders", heat.Change("insert", store, func(i int, _ time.Time) patterns.StoreOp[order] {
		return patterns.InsertEntity(&order{fmt.Sprint("customer", i), "profile", fmt.Sprint(i)})
	}, 100))
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), len(found), 0)
	plan := assert.Must(store.Explain(patterns.InsertEntity(&order{"customer", "profile", "x"})))(t)
	assert.Equal(t, costs[0].Requests, plan.Requests)
	assert.Equal(t, costs[0].Entities, plan.Entities)
}

func TestCheckReturnsTheErrorOfAnAccess(t *testing.T) {
	bad := errors.New("bad")
	for _, a := range []heat.Access{
		heat.Write("w", func(int, time.Time) (keys.Key, error) { return keys.Key{}, bad }, 1),
		heat.Read("r", query.Prop("a b").Eq(1), 1),
		{},
		heat.Write("w", nil, 1),
		heat.Change[order]("c", nil, nil, 1),
	} {
		if _, _, err := heat.Check("t", a); err == nil {
			t.Errorf("%q: no error", a.Name)
		}
	}
}
