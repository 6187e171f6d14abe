package wideentity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// Clients write the same two entities, next to a sweeper and a program that inserts rows of
// its own, while requests are lost or arrive late, processes are killed or paused, and
// clocks are wrong. No reader sees an entity that is torn, the results for each entity have
// an order, no row of the other program is changed, and after a sweep the table has just
// the rows of the entities and of the other program.
func TestRandomSchedulesLeaveNeitherTornEntitiesNorGarbage(t *testing.T) {
	harness.Schedules(t, []string{"atomic", "staged", "both", "plain"}, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(time.Hour)
		r := &wideRun{
			Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, accelerated: s.IntN(2) == 0, skewed: s.IntN(2) == 0, pages: s.IntN(4),
			olderThan: []time.Duration{time.Minute, 20 * time.Minute, 0}[s.IntN(3)], // a write that takes longer is refused
			foreign:   map[string]string{},
		}
		if err := r.open(s.Reliable()).atomic.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		r.run(ctx)
	})
}

// wideRun is one schedule.
type wideRun struct {
	*harness.Schedule
	harness.History
	mode                string
	retries             int32
	accelerated, skewed bool
	pages               int // rows of a page, 0 for the service's limit
	olderThan           time.Duration
	foreign             map[string]string // row key -> content
}

// program is a process with its two views of the table: one stages every write.
type program struct {
	*harness.Process
	client         *aztables.Client
	atomic, staged *wideentity.Table[properties]
}

func (r *wideRun) open(p *harness.Process) *program {
	service, err := p.Tables(r.accelerated, r.retries)
	if err != nil {
		panic(err)
	}
	q := &program{Process: p, client: service.NewClient("Wide")}
	opts := &wideentity.Options[properties]{Parts: 3, Plain: r.mode == "plain", PartOf: func(property string) int { return int(property[1] - '0') }}
	for _, table := range []**wideentity.Table[properties]{&q.atomic, &q.staged} {
		if *table, err = wideentity.New[properties](q.client, opts); err != nil {
			panic(err)
		}
	}
	if !opts.Plain {
		wideentity.SetBatchBytes(q.staged, 1)
	}
	return q
}

// process starts the process with this number.
func (r *wideRun) process(number int) (*program, *rand.Rand) {
	chance := rand.New(rand.NewPCG(r.Seed, uint64(number+1)))
	p := r.Process(number)
	if r.skewed {
		p.Skew = time.Duration(chance.IntN(11)-5) * time.Hour
	}
	decide, inner := p.Decide, p.Inner
	p.Decide = func(method, path string) harness.Fate {
		path, _, _ = strings.Cut(path, "~azp_") // the version is random
		return decide(method, path)
	}
	p.Inner = harness.Transport(func(req *http.Request) (*http.Response, error) {
		if r.pages > 0 && req.Method == http.MethodGet && req.URL.Query().Has("$filter") {
			req.URL.RawQuery += fmt.Sprint("&$top=", r.pages)
		}
		return inner.Do(req)
	})
	return r.open(p), chance
}

func (r *wideRun) run(ctx context.Context) {
	stop := make(chan struct{})
	var clients, others sync.WaitGroup
	for c := range 2 + r.IntN(2) {
		clients.Go(func() { r.client(ctx, 8*c) })
	}
	if r.IntN(3) > 0 {
		others.Go(func() { r.sweeper(ctx, stop) })
	}
	switch {
	case r.mode == "plain": // rows of another program would be parts
	case r.IntN(2) == 0:
		r.insertForeign(ctx)
		others.Go(func() {
			for range 3 {
				time.Sleep(time.Minute)
				r.insertForeign(ctx)
			}
		})
	}
	clients.Wait()
	close(stop)
	others.Wait()
	r.WaitLate()
	time.Sleep(2 * time.Hour)
	p := r.open(r.Reliable())
	if _, err := p.atomic.Sweep(ctx, nil); err != nil {
		r.Failf("sweep: %w", err)
	}
	for _, id := range []string{"x", "y"} {
		r.get(ctx, p, id)
	}
	r.checkRows(ctx, p.client)
	if err := r.Check(); err != nil {
		r.Failf("%w", err)
	}
}

// sweeper sweeps repeatedly. The next sweep repeats what failed.
func (r *wideRun) sweeper(ctx context.Context, stop <-chan struct{}) {
	var p *program
	for n := 100; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Minute):
		}
		if p == nil || p.Dead() {
			p, _ = r.process(n)
		}
		report, err := p.atomic.Sweep(ctx, &patterns.SweepOptions{OlderThan: r.olderThan})
		r.Log("sweep: %+v %v", report, err)
		if errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrNotFound) {
			r.Failf("sweep: %w", err)
		}
	}
}

// insertForeign inserts a row of another program, unless a row with its key exists.
func (r *wideRun) insertForeign(ctx context.Context) {
	key, content := fmt.Sprintf("%c_%02d", 'x'+r.IntN(2), 1+r.IntN(4)), fmt.Sprint("foreign ", len(r.foreign))
	body := fmt.Appendf(nil, `{"PartitionKey":"p","RowKey":%q,"Mine":%q}`, key, content)
	if _, err := r.open(r.Reliable()).client.AddEntity(ctx, body, nil); err == nil {
		r.Log("foreign row %s", key)
		r.foreign[key] = content
	}
}

// checkRows checks that the table has the rows of the entities and of the other program.
func (r *wideRun) checkRows(ctx context.Context, client *aztables.Client) {
	stored, parts := map[string]map[string]any{}, map[string]bool{}
	for pager := client.NewListEntitiesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			r.Failf("list: %w", err)
			return
		}
		for _, body := range page.Entities {
			var row map[string]any
			if err := json.Unmarshal(body, &row); err != nil {
				r.Failf("row: %w", err)
			}
			stored[row["RowKey"].(string)] = row
		}
	}
	for key, row := range stored {
		base, isHead := strings.CutSuffix(key, "_00")
		if !isHead {
			continue
		}
		parts[key] = true
		if r.mode == "plain" { // and each row was read as a part
			for part := range stored {
				parts[part] = parts[part] || strings.HasPrefix(part, base+"_0")
			}
			continue
		}
		for _, part := range strings.Split(row["azp_parts"].(string), ";") {
			fields := strings.Split(part, ":") // number, version, and the write that staged it
			parts[strings.Join(append([]string{base, fields[0]}, fields[2:]...), "_")] = true
		}
	}
	for key, row := range stored {
		if content, ok := r.foreign[key]; ok && row["Mine"] != content || ok == parts[key] {
			r.Failf("row %s is garbage, or was overwritten: %v", key, row)
		}
	}
	if len(stored) != len(parts)+len(r.foreign) {
		r.Failf("%d rows, want %d and %d", len(stored), len(parts), len(r.foreign))
	}
}

// client runs a few operations, and starts another process if its process is killed.
func (r *wideRun) client(ctx context.Context, number int) {
	p, chance := r.process(number)
	known := map[string]wideentity.Item[properties]{}
	for i := range 2 + chance.IntN(4) {
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		id := []string{"x", "y"}[min(chance.IntN(4), 1)]
		if chance.IntN(4) == 0 {
			if item, ok := r.get(ctx, p, id); ok {
				known[id] = item
			}
		} else {
			known[id] = r.write(ctx, p, chance, id, fmt.Sprint(number, ".", i), known[id])
		}
		if p.Dead() {
			p, _ = r.process(number + i + 1)
		}
	}
}

func wide(id string) keys.Key { return keys.Key{Partition: "p", Row: id} }

// get reads an entity. Its parts are B, and each has the value A.
func (r *wideRun) get(ctx context.Context, p *program, id string) (wideentity.Item[properties], bool) {
	began := time.Now()
	item, err := p.atomic.Get(ctx, wide(id))
	var row harness.Row
	switch {
	case errors.Is(err, wideentity.ErrTorn):
		r.Failf("get %s: %w", id, err)
		return item, false
	case err == nil:
		row = harness.Row{Exists: true, ETag: string(item.ETag)}
		row.A, row.B = r.content(item.Value)
	case !errors.Is(err, patterns.ErrNotFound):
		return item, false
	}
	r.Add(id, began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
	return item, row.Exists
}

// content returns the value of all properties, and the parts that they are in.
func (r *wideRun) content(v properties) (value, parts string) {
	for name, property := range without(v) {
		if text := property.(string); value != "" && text != value {
			r.Failf("an entity is torn: %v", v)
		} else {
			value = text
		}
		parts += name[1:]
	}
	sorted := []byte(parts)
	slices.Sort(sorted)
	return value, string(sorted)
}

// write runs and records one write. known is the version that the client has read, if any.
func (r *wideRun) write(ctx context.Context, p *program, chance *rand.Rand, id, value string, known wideentity.Item[properties]) (item wideentity.Item[properties]) {
	table, staged := p.atomic, false
	if r.mode == "staged" || r.mode == "both" && chance.IntN(2) == 0 {
		table, staged = p.staged, true
	}
	v := properties{"P1": value}
	for _, name := range []string{"P2", "P3"} {
		if chance.IntN(2) == 0 {
			v[name] = value
		}
	}
	a := harness.Action{Kind: []harness.Kind{harness.InsertRow, harness.InsertRow, harness.PutRow, harness.PutRow, harness.UpdateRow, harness.Remove}[chance.IntN(6)], ETag: string(known.ETag)}
	if known.ETag != "" && chance.IntN(2) == 0 {
		a.Kind = []harness.Kind{harness.ReplaceRow, harness.DeleteRow}[chance.IntN(2)]
	}
	a.A, a.B = r.content(v)
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	var err error
	switch a.Kind {
	case harness.InsertRow:
		item, err = table.Insert(ctx, keyed(wide(id), &v))
	case harness.PutRow:
		item, err = table.Put(ctx, keyed(wide(id), &v))
	case harness.ReplaceRow:
		known.Value = v
		item, err = table.Replace(ctx, known)
	case harness.UpdateRow:
		item, err = table.Update(ctx, wide(id), func(v *properties) error {
			a.Saw, _ = r.content(*v)
			for name := range without(*v) {
				(*v)[name] = value
			}
			return nil
		})
	case harness.DeleteRow:
		err = table.Delete(ctx, wide(id), azcore.ETag(a.ETag))
	case harness.Remove:
		err = table.Delete(ctx, wide(id), "")
	}
	if errors.Is(err, wideentity.ErrTorn) {
		r.Failf("%s %s: %w", a.Kind, id, err)
	}
	res := harness.NeverRan
	switch {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		res = harness.Unknown
	case err == nil:
		res = harness.Applied
	case errors.Is(err, wideentity.ErrForeignRow):
	case errors.Is(err, patterns.ErrExists):
		res = harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		res = harness.Missing
	case errors.Is(err, patterns.ErrConflict) && (a.Kind == harness.DeleteRow || a.Kind == harness.ReplaceRow && !staged):
		res = harness.Changed // otherwise it was changed in every try, or its staged rows were swept
	}
	r.Log("%s %+v, staged %v: %v, %d unanswered", id, a, staged, err, unanswered.Load())
	r.Add(id, began, a, harness.Result{Outcome: res, Row: harness.Row{ETag: string(item.ETag)}}, 0)
	if r.insertsAgain(a.Kind, staged, res) {
		for range unanswered.Load() {
			again := harness.Action{Kind: harness.InsertRow, A: a.A, B: a.B}
			r.Add(id, began, again, harness.Result{Outcome: harness.Unknown}, 0)
		}
	}
	if res == harness.Unknown {
		return wideentity.Item[properties]{}
	}
	return item
}

// insertsAgain reports whether an unanswered request of a write may insert the entity once
// more, after another client has deleted it. The documentation of Insert and Put states it.
// All other writes depend on the ETag of the head, or on that of the marker.
func (r *wideRun) insertsAgain(kind harness.Kind, staged bool, res harness.Outcome) bool {
	return !staged && (kind == harness.InsertRow || kind == harness.PutRow) && (res == harness.Applied || res == harness.Unknown)
}
