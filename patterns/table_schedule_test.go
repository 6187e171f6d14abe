package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// doc is a row of which a merge without B changes only A.
type doc struct {
	PartitionKey, RowKey string
	A                    string
	B                    string `table:",omitempty"`
}

// Two to four clients change the same two rows while requests and replies are lost, arrive
// late, and processes are killed or paused. The results of each row must have an order in
// which each successful operation takes effect between its call and its return, a refused one
// has no effect, and one of unknown outcome takes effect later or never.
func TestTheResultsOfATableHaveAnOrder(t *testing.T) {
	modes := []string{"plain", "accelerated", "plain, stamped", "accelerated, stamped"}
	harness.Schedules(t, modes, 15, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(time.Hour)
		r := &tableRun{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1}
		setup := r.table(s.Reliable())
		if err := setup.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		var clients sync.WaitGroup
		for c := range 2 + s.IntN(3) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(c+1)))
			clients.Go(func() { r.client(ctx, c, chance) })
		}
		clients.Wait()
		s.WaitLate()
		for _, key := range []string{"x", "y"} {
			r.read(ctx, setup, key)
		}
		if err := r.Check(); err != nil {
			s.Failf("%w", err)
		}
	})
}

type tableRun struct {
	*harness.Schedule
	harness.History
	mode    string
	retries int32
}

func (r *tableRun) table(p *harness.Process) *patterns.Table[doc] {
	service, err := p.Tables(strings.HasPrefix(r.mode, "accelerated"), r.retries)
	if err == nil {
		var t *patterns.Table[doc]
		if t, err = patterns.NewTable(service.NewClient("docs"), &patterns.TableOptions[doc]{StampWrites: strings.HasSuffix(r.mode, "stamped")}); err == nil {
			return t
		}
	}
	panic(err)
}

// change is an operation on a row, as it is sent and as it is recorded.
type change struct {
	key string
	harness.Action
	op patterns.Op[doc]
}

// client runs a few operations, and starts another process if its process is killed.
func (r *tableRun) client(ctx context.Context, n int, chance *rand.Rand) {
	var p *harness.Process
	var t *patterns.Table[doc]
	known := map[string]patterns.Item[doc]{} // the last version of each row that the client knows
	for i := range 2 + chance.IntN(4) {
		if p == nil || p.Dead() {
			p = r.Process(8*n + i)
			t = r.table(p)
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Second)
		key := []string{"x", "y"}[chance.IntN(2)]
		value := fmt.Sprint("c", n, ".", i)
		if strings.HasSuffix(r.mode, "stamped") && chance.IntN(3) == 0 {
			value = "same" // only stamps distinguish equal rows
		}
		switch chance.IntN(8) {
		case 0, 1:
			if item, ok := r.read(ctx, t, key); ok {
				known[key] = item
			}
		case 2:
			r.update(ctx, p, t, key, value)
		case 3:
			other := map[string]string{"x": "y", "y": "x"}[key]
			r.batch(ctx, p, t, []change{draw(chance, key, value, known[key]), draw(chance, other, value, known[other])})
		default:
			c := draw(chance, key, value, known[key])
			if item, ok := r.single(ctx, p, t, c); ok {
				known[key] = item
			}
		}
	}
}

// draw draws a write of a row of which the client knows a version.
func draw(chance *rand.Rand, key, value string, known patterns.Item[doc]) change {
	v := &doc{PartitionKey: "p", RowKey: key, A: value}
	c := change{key: key, Action: harness.Action{A: value, ETag: string(known.ETag)}}
	kinds := []harness.Kind{harness.InsertRow, harness.InsertRow, harness.PutRow, harness.PutMerge, harness.Remove}
	if known.ETag != "" {
		kinds = append(kinds, harness.ReplaceRow, harness.MergeRow, harness.DeleteRow, harness.DeleteRow)
	}
	c.Kind = kinds[chance.IntN(len(kinds))]
	if c.Kind != harness.MergeRow && c.Kind != harness.PutMerge {
		c.B, v.B = value, value
	}
	known.Value = *v
	switch c.Kind {
	case harness.InsertRow:
		c.op = patterns.InsertOp(v)
	case harness.PutRow:
		c.op = patterns.UpsertOp(v, patterns.Replace)
	case harness.PutMerge:
		c.op = patterns.UpsertOp(v, patterns.Merge)
	case harness.ReplaceRow:
		c.op = patterns.ReplaceOp(known)
	case harness.MergeRow:
		c.op = patterns.MergeOp(known)
	case harness.DeleteRow:
		c.op = patterns.DeleteOp[doc](known.Key, known.ETag)
	case harness.Remove:
		c.op = patterns.DeleteOp[doc](keys.Key{Partition: "p", Row: key}, "")
	}
	return c
}

func (r *tableRun) read(ctx context.Context, t *patterns.Table[doc], key string) (patterns.Item[doc], bool) {
	began := time.Now()
	item, err := t.Get(ctx, keys.Key{Partition: "p", Row: key})
	row := harness.Row{Exists: true, A: item.Value.A, B: item.Value.B, ETag: string(item.ETag)}
	if errors.Is(err, patterns.ErrNotFound) {
		row = harness.Row{}
	} else if err != nil {
		return item, false
	}
	r.Add(key, began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
	return item, err == nil
}

func (r *tableRun) single(ctx context.Context, p *harness.Process, t *patterns.Table[doc], c change) (patterns.Item[doc], bool) {
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	item, err := t.Do(ctx, c.op)
	r.record(began, c, string(item.ETag), outcomeOf(p, err), int(unanswered.Load()))
	return item, err == nil && item.ETag != ""
}

func (r *tableRun) update(ctx context.Context, p *harness.Process, t *patterns.Table[doc], key, value string) {
	began := time.Now()
	c := change{key: key, Action: harness.Action{Kind: harness.UpdateRow, A: value}}
	item, err := t.Update(ctx, keys.Key{Partition: "p", Row: key}, func(d *doc) error {
		c.Saw, d.A = d.A, value
		return nil
	})
	res := outcomeOf(p, err)
	if res == harness.Changed { // in every try
		res = harness.NeverRan
	}
	r.record(began, c, string(item.ETag), res, 0)
}

func (r *tableRun) batch(ctx context.Context, p *harness.Process, t *patterns.Table[doc], changes []change) {
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	b := t.Batch()
	for _, c := range changes {
		b.Add(c.op)
	}
	result, err := b.Commit(ctx)
	res := outcomeOf(p, err)
	var failed *patterns.BatchError
	errors.As(err, &failed)
	for i, c := range changes {
		etag, res := "", res
		switch {
		case err == nil:
			etag = string(result.ETags[i])
		case res != harness.Unknown && (failed == nil || failed.Index != i):
			res = harness.NeverRan
		}
		r.record(began, c, etag, res, int(unanswered.Load()))
	}
}

// record adds a write to the history. The service cannot distinguish the attempts of a write
// without an ETag: an unanswered one may arrive, or be repeated, after another client has
// undone the effect of the write, even if the operation has succeeded. The documentation of
// these operations states it.
func (r *tableRun) record(began time.Time, c change, etag string, res harness.Outcome, unanswered int) {
	again := 0
	switch c.Kind {
	case harness.InsertRow, harness.PutRow, harness.PutMerge, harness.Remove:
		if res == harness.Applied || res == harness.Unknown {
			again = unanswered
		}
	}
	r.Log("%s %+v: %s, %d unanswered", c.key, c.Action, res, unanswered)
	r.Add(c.key, began, c.Action, harness.Result{Outcome: res, Row: harness.Row{ETag: etag}}, again)
}

// outcomeOf is what the caller of a write knows. A process that was killed knows nothing.
func outcomeOf(p *harness.Process, err error) harness.Outcome {
	switch {
	case err == nil && !p.Dead():
		return harness.Applied
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		return harness.Unknown
	case errors.Is(err, patterns.ErrExists):
		return harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		return harness.Missing
	case errors.Is(err, patterns.ErrConflict):
		return harness.Changed
	}
	return harness.NeverRan
}
