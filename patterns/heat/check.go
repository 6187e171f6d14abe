package heat

import (
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Access is a way in which a program uses a table: one of [Read], [Write] and [Change].
type Access struct {
	Name      string
	PerSecond float64 // in the busiest minute
	sample    func(table string, i int, at time.Time) (Cost, []*request, error)
}

// Cost is what one use of an [Access] costs, at least.
type Cost struct {
	Access   string
	Class    query.Class     // of a read
	Requests int             // a query takes further ones for each 1,000 rows and for each partition
	Entities int             // written, or addressed by their keys
	Warnings []query.Warning // of a read, with remedies
}

// Read returns the access of a query. Its cost is that of Table.Query, which makes a request
// for each read of the plan.
func Read(name string, f query.Filter, perSecond float64) Access {
	plan := query.Explain(f)
	return Access{name, perSecond, func(table string, _ int, _ time.Time) (Cost, []*request, error) {
		cost := Cost{Class: plan.Class, Requests: plan.Requests, Warnings: plan.Warnings}
		var all []*request
		for _, r := range plan.Reads() {
			if r.Class == query.Point {
				all = append(all, touch(table, target.Read, r.Key))
				cost.Entities++
				continue
			}
			page := touch(table, target.Query, keys.Key{Partition: r.Partition.From})
			if page.Class = r.Class; r.Class > query.PartitionScan {
				page.Partition = target.TextSpan{}
				all = append(all, page, page.more(), page.more()) // the table has several pages
				continue
			}
			all = append(all, page)
		}
		return cost, all, f.Err()
	}}
}

// Write returns the access of a write of one entity. key returns the key of write i, which
// happens at a time: use a keys.Layout, with other values for each i.
func Write(name string, key func(i int, at time.Time) (keys.Key, error), perSecond float64) Access {
	return Access{name, perSecond, func(table string, i int, at time.Time) (Cost, []*request, error) {
		if key == nil {
			return Cost{}, nil, patterns.ErrNil
		}
		k, err := key(i, at)
		return Cost{Requests: 1, Entities: 1}, []*request{touch(table, target.Batch, k)}, err
	}}
}

// Change returns the access of an operation of a Store. op returns operation i, which
// happens at a time. Its cost is that of [patterns.Store.Explain]; an update needs
// [patterns.StoreOp.Was].
func Change[T any](name string, store *patterns.Store[T], op func(i int, at time.Time) patterns.StoreOp[T], perSecond float64) Access {
	return Access{name, perSecond, func(table string, i int, at time.Time) (Cost, []*request, error) {
		if store == nil || op == nil {
			return Cost{}, nil, patterns.ErrNil
		}
		plan, err := store.Explain(op(i, at))
		if err != nil {
			return Cost{}, nil, err
		}
		var all []*request
		for _, step := range plan.Steps {
			for _, row := range step.Rows {
				name, kind := table, target.Batch
				if row.View != "" {
					name += " (" + row.View + ")"
				}
				if strings.HasPrefix(row.Action, "read") {
					kind = target.Read
				}
				all = append(all, touch(name, kind, row.Key))
			}
		}
		return Cost{Requests: plan.Requests, Entities: plan.Entities}, all, nil
	}}
}

// touch returns a request for one row, or for a page that starts there. Writes are
// transactions, because how close they follow each other is not known.
func touch(table string, kind target.Action, key keys.Key) *request {
	return &request{Request: target.Touch(kind, table, key.Partition, key.Row)}
}

// more returns a further page of a query.
func (r *request) more() *request {
	next := *r.Request
	next.Next = true
	return &request{Request: &next}
}

// simulate records a request with a weight.
func (m *Meter) simulate(r *request, at time.Time, weight float64) {
	r.outcome = outcome{at: at.Sub(m.began), weight: weight, entities: 1, ok: true}
	m.record(r)
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
	start := time.Now().UTC().Truncate(time.Hour)
	at := start
	m := newMeter(&Options{Clock: func() time.Time { return at }})
	costs := make([]Cost, len(accesses))
	for i := range simulated {
		at = start.Add(time.Duration(i) * apart)
		for j, a := range accesses {
			if a.sample == nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, patterns.ErrNil)
			}
			cost, all, err := a.sample(table, i, at)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			cost.Access = a.Name
			costs[j] = cost
			for _, r := range all {
				m.simulate(r, at, apart.Seconds()*a.PerSecond)
			}
		}
	}
	return costs, m.Findings(), nil
}
