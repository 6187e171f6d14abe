package heat

import (
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Access is a way in which a program uses a table: one of [Read], [Write] and [Change].
type Access struct {
	Name      string
	PerSecond float64 // in the busiest minute
	sample    func(i int, at time.Time) (Cost, []touch, error)
}

// Cost is what one use of an [Access] costs, at least.
type Cost struct {
	Access   string
	Class    query.Class     // of a read
	Requests int             // a query takes further ones for each 1,000 rows and for each partition
	Entities int             // written, or addressed by their keys
	Warnings []query.Warning // of a read, with remedies
}

// touch is a request for one row or for a page.
type touch struct {
	view  string
	kind  kind // kindBatch for a write: how close writes follow each other is not known
	class query.Class
	key   keys.Key
}

// Read returns the access of a query. Its cost is that of Table.Query, which makes a request
// for each read of the plan.
func Read(name string, f query.Filter, perSecond float64) Access {
	plan := query.Explain(f)
	return Access{name, perSecond, func(int, time.Time) (Cost, []touch, error) {
		if err := f.Err(); err != nil {
			return Cost{}, nil, err
		}
		cost := Cost{Class: plan.Class, Requests: plan.Requests, Warnings: plan.Warnings}
		var touched []touch
		for _, r := range plan.Reads() {
			t := touch{kind: kindQuery, class: r.Class, key: keys.Key{Partition: r.Partition.From}}
			if r.Class == query.Point {
				t.kind, t.key = kindRead, r.Key
				cost.Entities++
			}
			touched = append(touched, t)
		}
		return cost, touched, nil
	}}
}

// Write returns the access of a write of one entity. key returns the key of write i, which
// happens at a time: use a keys.Layout, with other values for each i.
func Write(name string, key func(i int, at time.Time) (keys.Key, error), perSecond float64) Access {
	if key == nil {
		return Access{Name: name}
	}
	return Access{name, perSecond, func(i int, at time.Time) (Cost, []touch, error) {
		k, err := key(i, at)
		return Cost{Requests: 1, Entities: 1}, []touch{{kind: kindBatch, key: k}}, err
	}}
}

// Change returns the access of an operation of a Store. op returns operation i, which
// happens at a time. Its cost is that of [patterns.Store.Explain]; an update needs
// [patterns.StoreOp.Was].
func Change[T any](name string, store *patterns.Store[T], op func(i int, at time.Time) patterns.StoreOp[T], perSecond float64) Access {
	if store == nil || op == nil {
		return Access{Name: name}
	}
	return Access{name, perSecond, func(i int, at time.Time) (Cost, []touch, error) {
		plan, err := store.Explain(op(i, at))
		if err != nil {
			return Cost{}, nil, err
		}
		var touched []touch
		for _, step := range plan.Steps {
			for _, row := range step.Rows {
				t := touch{view: row.View, kind: kindBatch, key: row.Key}
				if strings.HasPrefix(row.Action, "read") {
					t.kind = kindRead
				}
				touched = append(touched, t)
			}
		}
		return Cost{Requests: plan.Requests, Entities: plan.Entities}, touched, nil
	}}
}

// Check simulates four hours. Each simulated use of an access represents three seconds.
const (
	simulated = 4800
	apart     = 3 * time.Second
)

// Check returns what each access costs, and the findings that a meter would have after four
// hours in which all minutes are like the busiest one. It makes no request. An error of an
// access names it; an access without a function or a Store matches [patterns.ErrNil].
func Check(table string, accesses ...Access) ([]Cost, []Finding, error) {
	m := NewMeter(nil)
	start := time.Now().UTC().Truncate(time.Hour)
	m.began = start
	costs := make([]Cost, len(accesses))
	for i := range simulated {
		at := start.Add(time.Duration(i) * apart)
		for j, a := range accesses {
			if a.sample == nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, patterns.ErrNil)
			}
			cost, touched, err := a.sample(i, at)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			if i == 0 {
				cost.Access = a.Name
				costs[j] = cost
			}
			for _, t := range touched {
				m.simulate(table, t, at, apart.Seconds()*a.PerSecond)
			}
		}
	}
	return costs, m.snapshot(start.Add(simulated * apart)).Findings(), nil
}

func (m *Meter) simulate(table string, t touch, at time.Time, weight float64) {
	if t.view != "" {
		table += " (" + t.view + ")"
	}
	r := &request{content: content{kind: t.kind, class: t.class, every: 1}}
	r.outcome = outcome{at: at.Sub(m.began), weight: weight, entities: 1, ok: true}
	r.begin('t', table)
	if t.class <= query.PartitionScan {
		r.partition = r.extend(r.resource, 0, []byte(t.key.Partition))
		r.low, r.high = r.partition, r.partition
	}
	if t.kind != kindQuery {
		r.rows = append(r.rows, r.extend(r.partition, 0, []byte(t.key.Row)))
	}
	m.record(r)
}
