package patterns_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Two or three programs do with a Store, and a random choice of views, all that its documentation permits, while requests and
// replies are lost, arrive late or twice, and processes are killed or paused. All results, and all that is stored in the end,
// must be what the documentation of Store, StoreBatch and the packages of the views promises. The model was written from the
// documentation alone: it shares no assumption with the engine.
func TestAStoreKeepsWhatItsDocumentationPromises(t *testing.T) {
	modes := []string{"in the call", "left to a worker", "with a Finisher", "governed", "two programs"}
	harness.Schedules(t, modes, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		r := newPromiseRun(s, mode)
		setup := r.open(s.Reliable(), "ready")
		if err := setup.store.Create(ctx); err != nil {
			s.Failf("create: %w", err)
			return
		}
		first := r.open(s.Reliable(), r.state(0))
		for i, key := range r.all {
			if s.IntN(2) == 0 {
				r.single(ctx, first, r.draw(first, s.Rand, key, fmt.Sprint("s.", i)))
			}
		}
		first.close(ctx)
		var clients sync.WaitGroup
		for c := range 2 + s.IntN(2) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(c+1)))
			clients.Go(func() { r.client(ctx, c, chance) })
		}
		clients.Wait()
		s.WaitLate()
		setup.close(ctx)
		r.finish(ctx, r.open(s.Reliable(), "ready"))
	})
}

var (
	promisedViews = []string{"ui", "ux", "ug", "ni", "nx", "ng", "li", "lx", "lb", "tag", "ci", "cx", "sx", "mi", "mx"}
	promisedOnes  = []string{none, "a", "A/b\\#?_", "ü  x"}
	promisedTags  = []string{"t", "t/u", "", "t  u"}
)

type promiseRun struct {
	*harness.Schedule
	promises
	mode        string
	queue       harness.OutboxQueue
	views       []string // those of promisedViews that were drawn
	added       string   // the one that only some programs have
	states      []string // of added, in the programs
	elsewhere   map[string]bool
	slim        map[string]bool
	all         []keys.Key
	manies      []string // the values of Many
	options     patterns.StoreOptions[promised]
	stamped     bool
	accelerated bool
	lossy       bool // the queue loses messages
	retries     int32
	governor    *govern.Governor
}

func newPromiseRun(s *harness.Schedule, mode string) *promiseRun {
	r := &promiseRun{Schedule: s, mode: mode, elsewhere: map[string]bool{}, slim: map[string]bool{}}
	r.versions = map[string]promised{}
	for _, view := range promisedViews {
		r.elsewhere[view], r.slim[view] = s.IntN(2) == 0, s.IntN(2) == 0
		if s.IntN(5) < 2 {
			r.views = append(r.views, view)
		}
	}
	r.accelerated, r.stamped, r.lossy, r.retries = s.IntN(2) == 0, s.IntN(2) == 0, s.IntN(4) == 0, int32(s.IntN(4))-1
	r.options.GuardInserts, r.options.Grace = s.IntN(3) == 0, time.Duration(s.IntN(2)*10)*time.Second
	switch mode {
	case "left to a worker":
		r.options.Follow = patterns.Later
	case "with a Finisher":
		r.options.Follow = patterns.Follow(s.IntN(4) / 3)
	case "governed":
		r.governor, _ = govern.New(&govern.Options{RetryShare: []float64{0, 1}[s.IntN(2)]})
	case "two programs":
		r.added = []string{"ni", "nx", "ng", "li", "lx", "lb", "tag", "ci", "cx", "sx", "mi", "mx"}[s.IntN(12)]
		r.states = [][]string{{"absent", "building"}, {"building", "ready"}, {"absent", "ready"}}[s.IntN(3)]
		if !r.has(r.added) {
			r.views = append(r.views, r.added)
		}
	}
	partitions, rows := []string{"p", "ü %1"}, []string{"x", "", "a_  b+~"}
	r.manies = []string{none, "a", "a_%", "", "z  y"}
	if r.accelerated { // others cannot write keys with a quote
		partitions[1], rows[2], r.manies[4] = "ü 'q%1", "a_'  b+~", "z'  y"
	}
	for _, p := range partitions {
		for _, row := range rows {
			r.all = append(r.all, keys.Key{Partition: p, Row: row})
		}
	}
	for _, scope := range []string{"ui", "ux", "ug"} {
		if r.has(scope) {
			r.unique = append(r.unique, func(e *promised) string {
				if e.One == none || e.Version == "" {
					return ""
				}
				return map[bool]string{false: e.PartitionKey + "/"}[scope == "ug"] + "=" + e.One
			})
		}
	}
	s.Log("views %v, added %q %v, elsewhere %v, slim %v, options %+v, lossy %v",
		r.views, r.added, r.states, r.elsewhere, r.slim, r.options, r.lossy)
	return r
}

func (r *promiseRun) has(view string) bool { return slices.Contains(r.views, view) }

// state returns that of the added view in program n.
func (r *promiseRun) state(n int) string {
	if r.added == "" {
		return "ready"
	}
	return r.states[n%2]
}

// promiseProgram is a process with its Store.
type promiseProgram struct {
	*harness.Process
	state    string // of the added view
	service  *aztables.ServiceClient
	store    *patterns.Store[promised]
	finisher *patterns.Finisher
	index    map[string]*secondaryindex.Index[promised]
	list     map[string]*indexentity.Index[promised]
	tag      *secondaryindex.LookupIndex[promised]
	latest   map[keys.Key]patterns.Item[promised] // the last version of each entity that the program knows
}

// promisedQueue is the queue as a process reaches it.
type promisedQueue struct {
	*harness.OutboxQueue
	p *harness.Process
}

func (q promisedQueue) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	var receipt patterns.Receipt
	err := q.p.Step(ctx, "POST", "/queue", func(answered bool) error {
		got, err := q.OutboxQueue.Put(ctx, m, after)
		if answered {
			receipt = got
		}
		return err
	}, func(int) error { return harness.ErrLost })
	return receipt, err
}

func (q promisedQueue) Delete(ctx context.Context, receipt patterns.Receipt) error {
	return q.p.Step(ctx, "DELETE", "/queue", func(bool) error { return q.OutboxQueue.Delete(ctx, receipt) },
		func(int) error { return harness.ErrLost })
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// open starts a program; state is that of the added view.
func (r *promiseRun) open(p *harness.Process, state string) *promiseProgram {
	opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: p, Retry: policy.RetryOptions{MaxRetries: r.retries, RetryDelay: time.Microsecond, MaxRetryDelay: time.Millisecond},
	}}
	if r.accelerated {
		patterns.Accelerate(&opts.ClientOptions)
	}
	if r.governor != nil {
		r.governor.Attach(&opts.ClientOptions)
	}
	cred := must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))
	g := &promiseProgram{
		Process: p, state: state, service: must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, opts)),
		index: map[string]*secondaryindex.Index[promised]{}, list: map[string]*indexentity.Index[promised]{},
		latest: map[keys.Key]patterns.Item[promised]{},
	}
	o := r.options
	o.Outbox = promisedQueue{&r.queue, p}
	for _, name := range r.views {
		if name == r.added && state == "absent" {
			continue
		}
		if name == r.added && state == "building" {
			o.Building = []string{name}
		}
		o.Views = append(o.Views, r.view(g, name))
	}
	if r.mode == "with a Finisher" {
		g.finisher = must(patterns.NewFinisher(&patterns.FinisherOptions{MaxHeld: int(r.Seed % 3)}))
		o.Finisher = g.finisher
	}
	table := must(patterns.NewTable(g.service.NewClient("members"), &patterns.TableOptions[promised]{StampWrites: r.stamped}))
	g.store = must(patterns.NewStore(table, &o))
	return g
}

func (g *promiseProgram) close(ctx context.Context) {
	if g != nil && g.finisher != nil {
		_ = g.finisher.Close(ctx) // what it could not finish is left to workers
	}
}

// table is the table with the rows of a view in other partitions: nil for that of the entities.
func (r *promiseRun) table(g *promiseProgram, view string) *aztables.Client {
	if r.elsewhere[view] && !strings.HasSuffix(view, "i") {
		return g.service.NewClient("rows")
	}
	return nil
}

func promisedCounter(e *promised) (keys.Key, bool) {
	return keys.Key{Partition: "counts", Row: "n_" + keys.Escape(e.Many)}, e.Many != none
}

func promisedMirror(e *promised) keys.Key {
	return keys.Key{Partition: "mirror", Row: keys.Escape(e.PartitionKey) + "_" + keys.Escape(e.RowKey)}
}

type promisedMerge struct{ Mirrored string }

func (r *promiseRun) view(g *promiseProgram, name string) patterns.View[promised] {
	table := r.table(g, name)
	in := &secondaryindex.Options[promised]{NonUnique: name[0] == 'n'}
	value := (*promised).many
	if name[0] == 'u' {
		value = (*promised).one
	}
	if r.slim[name] {
		in.Only = []string{"One", "Many"}
	}
	switch name {
	case "ui", "ni":
		g.index[name] = secondaryindex.Intra(name, value, in)
		return g.index[name]
	case "ug", "ng":
		in.Partition = func(_, _ string) string { return name }
		fallthrough
	case "ux", "nx":
		g.index[name] = secondaryindex.Inter(name, table, value, in)
		return g.index[name]
	case "li":
		g.list[name] = indexentity.Intra(name, value, nil)
		return g.list[name]
	case "lx":
		g.list[name] = indexentity.Inter(name, table, value, nil)
		return g.list[name]
	case "lb":
		g.list[name] = indexentity.InterBlob(name, must(g.Container("lists", r.retries)), value, nil)
		return g.list[name]
	case "tag":
		g.tag = secondaryindex.Lookup(name, table, func(e *promised) []string { return e.Tags }, &secondaryindex.Options[promised]{
			RemoveSuperfluous: r.slim[name], Partition: func(_, tag string) string { return "tag_" + keys.Escape(tag) },
		})
		return g.tag
	case "ci":
		return denormalize.Intra(name, denormalize.Count("Members", func(e *promised) (keys.Key, bool) {
			return keys.Key{Partition: e.PartitionKey, Row: "n_" + keys.Escape(e.Many)}, e.Many != none
		}), nil)
	case "cx":
		return denormalize.Inter(name, table, denormalize.Count("Members", promisedCounter), nil)
	case "sx":
		return denormalize.Inter(name, table, denormalize.Sum("Total", func(e *promised) (keys.Key, int64, bool) {
			at, ok := promisedCounter(e)
			return at, e.Weight, ok
		}), nil)
	case "mi":
		return denormalize.Intra(name, denormalize.Into(func(e *promised) (keys.Key, promisedMerge, bool) {
			return keys.Key{Partition: e.PartitionKey, Row: "m_" + keys.Escape(e.RowKey)}, promisedMerge{e.One}, e.One != none
		}), nil)
	}
	return denormalize.Inter(name, table, denormalize.Into(func(e *promised) (keys.Key, promisedMerge, bool) {
		return promisedMirror(e), promisedMerge{e.Version}, e.Many != none
	}), nil)
}

// client runs a few operations, and starts another process if its process is killed.
func (r *promiseRun) client(ctx context.Context, n int, chance *rand.Rand) {
	var g *promiseProgram
	for i := range 2 + chance.IntN(6) {
		if g == nil || g.Dead() {
			g.close(ctx)
			g = r.open(r.Process(8*n+i), r.state(n))
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		version := fmt.Sprint("c", n, ".", i)
		key := r.all[chance.IntN(len(r.all))]
		if chance.IntN(2) == 0 {
			key = r.all[r.Seed%uint64(len(r.all))] // many changes of one entity
		}
		switch chance.IntN(20) {
		case 0:
			r.get(ctx, g, key)
		case 1, 2, 3, 4:
			r.readViews(ctx, g, chance)
		case 5:
			r.repair(ctx, g, key)
		case 6:
			_, _ = g.store.Sweep(ctx, nil)
		case 7, 8:
			if chance.IntN(3) == 0 {
				r.queue.ShowFirst()
			}
			for range 3 {
				_, _ = r.queue.WorkOne(ctx, g.store, time.Duration(10+chance.IntN(100))*time.Second)
			}
		case 9:
			if r.lossy {
				r.queue.Clear()
			}
			if g.finisher != nil {
				_ = g.finisher.Flush(ctx)
			}
		case 10, 11:
			r.batch(ctx, g, chance, version)
		case 12:
			r.bulk(ctx, g, chance, version)
		default:
			r.single(ctx, g, r.draw(g, chance, key, version))
		}
	}
	g.close(ctx)
}

// promisedOp is an operation as it is carried out and as it is recorded.
type promisedOp struct {
	promisedWrite
	op     patterns.StoreOp[promised]
	do     func(context.Context, *patterns.Store[promised]) (patterns.Item[promised], error)
	item   bool // it names the version that was read
	remote bool // the entity has rows in other partitions afterwards
}

// draw draws a change of the entity at key.
func (r *promiseRun) draw(g *promiseProgram, chance *rand.Rand, key keys.Key, version string) *promisedOp {
	fill := func(e *promised) {
		e.PartitionKey, e.RowKey, e.Version = key.Partition, key.Row, version
		e.One, e.Many = promisedOnes[chance.IntN(len(promisedOnes))], r.manies[chance.IntN(len(r.manies))]
		e.Weight, e.Tags = int64(chance.IntN(3)), slices.Clone(promisedTags[:chance.IntN(4)])
		if len(e.Tags) > 0 && chance.IntN(2) == 0 {
			e.Tags = append(e.Tags[1:], promisedTags[3], promisedTags[3])
		}
	}
	var v promised
	fill(&v)
	was, read := g.latest[key]
	d := &promisedOp{promisedWrite: promisedWrite{key: key, version: version}, item: read && chance.IntN(2) == 0}
	part := chance.IntN(5)
	change := func(e *promised) error {
		d.saw = e.Version
		switch part {
		case 0: // nothing
			d.version = e.Version
			return nil
		case 1:
			e.One, e.Version = v.One, version
		case 2:
			e.Many, e.Version = v.Many, version
		default:
			*e = v
			e.Tags = slices.Clone(v.Tags)
		}
		r.declare(*e)
		return nil
	}
	type (
		store = *patterns.Store[promised]
		item  = patterns.Item[promised]
	)
	switch chance.IntN(9) {
	case 0, 1:
		d.kind, d.op, d.item = harness.InsertRow, patterns.InsertEntity(&v), false
		d.do = func(ctx context.Context, s store) (item, error) { return s.Insert(ctx, &v) }
	case 2, 3:
		d.kind, d.op = harness.PutRow, patterns.PutEntity(&v)
		d.do = func(ctx context.Context, s store) (item, error) { return s.Put(ctx, &v) }
		if d.item {
			d.kind, d.saw = harness.UpdateRow, was.Value.Version
			d.do = func(ctx context.Context, s store) (item, error) { return s.PutItem(ctx, was, &v) }
		}
	case 4, 5, 6:
		d.kind, d.op = harness.UpdateRow, patterns.UpdateEntity(key, change)
		d.do = func(ctx context.Context, s store) (item, error) { return s.Update(ctx, key, change) }
		if d.item {
			d.op, d.item = d.op.Was(was), false // it starts over after a conflict
			d.do = func(ctx context.Context, s store) (item, error) { return s.UpdateItem(ctx, was, change) }
		}
	default:
		d.version, d.kind, d.op = "", harness.Remove, patterns.DeleteEntity[promised](key)
		d.do = func(ctx context.Context, s store) (item, error) { return item{}, s.Delete(ctx, key) }
		if d.item {
			d.kind, d.saw = harness.UpdateRow, was.Value.Version
			d.do = func(ctx context.Context, s store) (item, error) { return item{}, s.DeleteItem(ctx, was) }
		}
	}
	if d.item {
		d.op = d.op.Was(was)
	}
	r.declare(v)
	d.remote = d.kind == harness.InsertRow && r.options.GuardInserts || (d.kind == harness.InsertRow || d.kind == harness.PutRow) &&
		(v.Many != none && r.hasAny("nx", "ng", "lx", "lb", "cx", "sx", "mx") || v.One != none && r.hasAny("ux", "ug"))
	return d
}

func (r *promiseRun) hasAny(views ...string) bool {
	return slices.ContainsFunc(views, func(v string) bool { return v != r.added && r.has(v) })
}
