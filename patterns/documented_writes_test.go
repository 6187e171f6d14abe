package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// single carries out one change with the method of the Store for it.
func (r *promiseRun) single(ctx context.Context, g *promiseProgram, d *promisedOp) {
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	item, err := d.do(ctx, g.store.Within(d.key.Partition))
	r.record(g, began, []*promisedOp{d}, []patterns.Item[promised]{item}, err, min(2, int(unanswered.Load())))
}

// batch changes several entities of a partition in one transaction.
func (r *promiseRun) batch(ctx context.Context, g *promiseProgram, chance *rand.Rand, version string) {
	first := 3 * chance.IntN(2)
	rows := chance.Perm(3)[:2+chance.IntN(2)]
	b := g.store.Batch()
	var ops []*promisedOp
	again := true
	for i, row := range rows {
		d := r.draw(g, chance, r.all[first+row], fmt.Sprint(version, "/", i))
		if d.kind == harness.Remove {
			d.kind = harness.DeleteRow
		}
		ops, again = append(ops, d), again && !d.remote
		b.Add(d.op)
	}
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	items, err := b.Commit(ctx)
	n := 0
	if again {
		n = min(2, int(unanswered.Load()))
	}
	r.record(g, began, ops, items, err, n)
}

// bulk changes entities of all partitions, some of them twice.
func (r *promiseRun) bulk(ctx context.Context, g *promiseProgram, chance *rand.Rand, version string) {
	var ops []*promisedOp
	var in []patterns.StoreOp[promised]
	for i := range 2 + chance.IntN(4) {
		d := r.draw(g, chance, r.all[chance.IntN(len(r.all))], fmt.Sprint(version, "/", i))
		ops, in = append(ops, d), append(in, d.op)
	}
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	report, err := g.store.Bulk(ctx, slices.Values(in), nil)
	failed := map[int]error{}
	for _, f := range report.Failures {
		failed[f.Index] = f.Err
	}
	if (err == nil) != (len(failed) == 0) {
		r.Failf("bulk: %v with %d failures", err, len(failed))
	}
	type shared struct { // by what can be one transaction
		partition string
		outcome   harness.Outcome
	}
	together := map[shared]map[keys.Key][]string{}
	for i, d := range ops {
		in := shared{d.key.Partition, promisedOutcome(g.Process, failed[i]).Outcome}
		if together[in] == nil {
			together[in] = map[keys.Key][]string{}
		}
		together[in][d.key] = append(together[in][d.key], d.version)
		d.together = together[in]
	}
	for i, d := range ops {
		n := 0
		if !d.remote {
			n = min(2, int(unanswered.Load()))
		}
		r.record(g, began, []*promisedOp{d}, nil, failed[i], n)
	}
}

// record adds a transaction to the history, and checks that its error is one that the documentation permits.
func (r *promiseRun) record(
	g *promiseProgram, began time.Time, ops []*promisedOp, items []patterns.Item[promised], err error, unanswered int,
) {
	o := promisedOutcome(g.Process, err)
	if len(ops) == 1 {
		o.Failed = 0 // of a Bulk, it is the position in the transaction
	}
	e := promisedEvent{}
	conditional := false
	for _, d := range ops {
		e.writes = append(e.writes, d.promisedWrite)
		conditional = conditional || d.kind == harness.UpdateRow || len(ops) == 1 && d.kind == harness.InsertRow && d.remote
	}
	r.Log("%s: %+v, %d unanswered: %+v %v", g.state, e.writes, unanswered, o, err)
	r.allowed(err)
	switch d := ops[o.Failed]; {
	case o.Outcome == harness.Changed && !d.item: // in every try
		o.Outcome = harness.NeverRan
	case o.Outcome == harness.Exists && d.kind != harness.InsertRow,
		o.Outcome == harness.Missing && d.kind != harness.UpdateRow && d.kind != harness.DeleteRow:
		r.Failf("%+v is refused with %w", d.promisedWrite, err)
	}
	if conditional {
		unanswered = 0
	}
	r.add(began, e, o, unanswered)
	if o.Outcome != harness.Applied {
		return
	}
	for i, item := range items {
		if d := ops[i]; d.version != "" {
			if item.Value.Version != d.version || item.Key != d.key {
				r.Failf("%+v returned %+v", d.promisedWrite, item)
			}
			r.see(g, item)
		}
	}
}

// allowed checks that a call failed only as it may here: because of faults, or of what another program has done.
func (r *promiseRun) allowed(err error) {
	for _, never := range []error{
		patterns.ErrBadKey, patterns.ErrBadOption, patterns.ErrNil, patterns.ErrTooLarge, patterns.ErrKeyChanged, patterns.ErrBadReply,
		patterns.ErrNeedsAccelerate, patterns.ErrProjected, patterns.ErrBadETag, patterns.ErrTableNotFound, patterns.ErrMixedPartitions,
		patterns.ErrDuplicateRow, patterns.ErrCommitted, patterns.ErrBadCursor, patterns.ErrUnordered, patterns.ErrBadView,
	} {
		mismatch := never == patterns.ErrBadView && slices.Contains(r.states, "absent") && slices.Contains(r.states, "ready")
		if errors.Is(err, never) && !mismatch {
			r.Failf("unexpected error: %w", err)
		}
	}
	var duplicate *patterns.DuplicateError
	if errors.As(err, &duplicate) && (!r.has(duplicate.View) || duplicate.View[0] != 'u') {
		r.Failf("unexpected duplicate of %s: %w", duplicate.View, err)
	}
}

// see checks an entity that was read or stored, and remembers its version.
func (r *promiseRun) see(g *promiseProgram, item patterns.Item[promised]) {
	if err := r.content(&item.Value); err != nil || item.Key != item.Value.key() {
		r.Failf("%v: %w", item.Key, err)
	}
	g.latest[item.Key] = item
}

func (r *promiseRun) get(ctx context.Context, g *promiseProgram, key keys.Key) {
	began := time.Now()
	item, err := g.store.Get(ctx, key)
	r.allowed(err)
	if err == nil {
		r.see(g, item)
	}
	if err == nil || errors.Is(err, patterns.ErrNotFound) {
		r.read(began, key, item.Value.Version)
	}
}

func (r *promiseRun) repair(ctx context.Context, g *promiseProgram, key keys.Key) {
	began := time.Now()
	err := g.store.Repair(ctx, key)
	r.allowed(err)
	o := promisedOutcome(g.Process, err)
	if o.Outcome == harness.Changed {
		o.Outcome = harness.NeverRan
	}
	if o.Outcome != harness.Unknown {
		r.add(began, promisedEvent{writes: []promisedWrite{{key: key, kind: harness.TouchRow}}}, o, 0)
	}
}
