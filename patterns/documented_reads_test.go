package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
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

// moment adds a read that saw at one moment all entities that match.
func (r *promiseRun) moment(began time.Time, match func(*promised) bool, want map[keys.Key]string, count int) {
	r.add(began, promisedEvent{match: match, want: want, count: count}, harness.TransactionResult{Outcome: harness.Applied}, 0)
}

// valueOf returns the function of the entities' values in a view, and the values to ask for.
func (r *promiseRun) valueOf(view string) (func(*promised) (string, bool), []string) {
	switch view[0] {
	case 'u':
		return (*promised).one, promisedOnes[1:]
	case 't':
		return nil, promisedTags
	}
	return (*promised).many, r.manies[1:]
}

// matches returns which entities a reader of view finds for a value; partition is that of the entities, if rows are kept by it.
func (r *promiseRun) matches(view, partition, value string) func(*promised) bool {
	of, _ := r.valueOf(view)
	return func(e *promised) bool {
		if view == "tag" {
			return slices.Contains(e.Tags, value)
		}
		v, ok := of(e)
		everywhere := view[1] == 'g' || view == "lx" || view == "lb" || view == "cx" || view == "sx"
		return ok && v == value && (everywhere || e.PartitionKey == partition)
	}
}

// readViews reads by a view while the programs write.
func (r *promiseRun) readViews(ctx context.Context, g *promiseProgram, chance *rand.Rand) {
	partition := r.all[3*chance.IntN(2)].Partition
	views := slices.DeleteFunc(slices.Clone(r.views), func(v string) bool { return v == r.added })
	if len(views) == 0 || chance.IntN(4) == 0 {
		r.query(ctx, g, partition)
		return
	}
	view := views[chance.IntN(len(views))]
	_, values := r.valueOf(view)
	value := values[chance.IntN(len(values))]
	if item, ok := g.latest[r.all[chance.IntN(len(r.all))]]; ok && chance.IntN(4) > 0 { // more likely to exist
		of, _ := r.valueOf(view)
		if view == "tag" {
			of = func(e *promised) (string, bool) { return slices.Concat(e.Tags, []string{""})[0], true }
		}
		if v, ok := of(&item.Value); ok {
			partition, value = item.Key.Partition, v
		}
	}
	match := r.matches(view, partition, value)
	began := time.Now()
	found := map[keys.Key]string{}
	items := func(list func(yield func(patterns.Item[promised], error) bool)) (map[keys.Key]int, error) {
		times := map[keys.Key]int{}
		for item, err := range list {
			if err != nil {
				return nil, err
			}
			if r.see(g, item); !match(&item.Value) {
				r.Failf("%s returned %+v for %q in %q", view, item.Value, value, partition)
			}
			times[item.Key]++
			r.read(began, item.Key, item.Value.Version)
		}
		return times, nil
	}
	switch {
	case view == "tag":
		times, err := items(g.tag.On(g.store).Query(ctx, partition, secondaryindex.Equal(value), nil))
		r.allowed(err)
		if err == nil {
			r.lookup(began, match, times)
		}
	case g.list[view] != nil && (view != "li" || chance.IntN(2) == 0):
		_, err := items(g.list[view].On(g.store).Query(ctx, partition, value, nil))
		r.allowed(err)
	case view == "li":
		list, err := g.list[view].On(g.store).Get(ctx, partition, value)
		r.allowed(err)
		for _, key := range list {
			found[key] = ""
		}
		if err == nil {
			r.moment(began, match, found, 0)
		}
	case view == "ci":
		if n, err := r.counter(ctx, g, view, "Members", keys.Key{Partition: partition, Row: "n_" + keys.Escape(value)}); err == nil {
			r.moment(began, match, nil, int(n))
		}
	case g.index[view] != nil:
		r.readIndex(ctx, g, chance, view, partition, value)
	}
}

// query reads the entities of a partition.
func (r *promiseRun) query(ctx context.Context, g *promiseProgram, partition string) {
	began, found := time.Now(), map[keys.Key]string{}
	for item, err := range g.store.Query(ctx, query.PartitionKey.Eq(partition), nil) {
		if r.allowed(err); err != nil {
			return
		}
		r.see(g, item)
		found[item.Key] = item.Value.Version
	}
	for _, key := range r.all {
		if key.Partition == partition {
			r.read(began, key, found[key])
			delete(found, key)
		}
	}
	if len(found) > 0 {
		r.Failf("a query of %q returned %v", partition, found)
	}
}

// readIndex reads an index, in one of the ways that its documentation describes.
func (r *promiseRun) readIndex(ctx context.Context, g *promiseProgram, chance *rand.Rand, view, partition, value string) {
	reader, match, began := g.index[view].On(g.store), r.matches(view, partition, value), time.Now()
	check := &secondaryindex.CheckOptions{Repair: chance.IntN(2) == 0}
	if view[0] == 'u' {
		switch chance.IntN(3) {
		case 0:
			entry, err := reader.Get(ctx, partition, value)
			if r.allowed(err); err == nil {
				r.entry(view, partition, value, entry)
			}
			return
		case 1:
			item, _, err := reader.GetFresh(ctx, partition, value, check)
			r.allowed(err)
			found := map[keys.Key]string{}
			if err == nil {
				r.see(g, item)
				found[item.Key] = item.Value.Version
			} else if !errors.Is(err, patterns.ErrNotFound) {
				return
			}
			r.moment(began, match, found, 0)
			return
		}
	}
	found := map[keys.Key]string{}
	for c, err := range reader.CheckAll(ctx, reader.Query(ctx, partition, secondaryindex.Equal(value), nil), check) {
		if r.allowed(err); err != nil {
			return
		}
		r.entry(view, partition, value, c.Entry)
		found[c.Primary] = ""
		if c.Found {
			if r.see(g, c.Item); !match(&c.Item.Value) {
				r.Failf("%s: checked %+v for %q", view, c.Item.Value, value)
			}
			r.read(began, c.Item.Key, c.Item.Value.Version)
		}
	}
	if view[1] == 'i' {
		r.moment(began, match, found, 0)
	}
}

// entry checks that an entry is a copy of a version of its entity that has the value.
func (r *promiseRun) entry(view, partition, value string, e secondaryindex.Entry[promised]) {
	ok := r.matches(view, partition, value)(&e.Value) && e.Indexed == value && e.Primary == e.Value.key()
	var err error
	if !r.slim[view] {
		err = r.content(&e.Value)
	}
	if !ok || err != nil {
		r.Failf("%s has %+v for %q in %q: %w", view, e, value, partition, err)
	}
}

// counter reads a number that views add to a row.
func (r *promiseRun) counter(ctx context.Context, g *promiseProgram, view, property string, at keys.Key) (int64, error) {
	v, err := r.property(ctx, g, view, property, at)
	n, ok := v.(int64)
	if v != nil && !ok {
		r.Failf("%s: %s is %v", view, property, v)
	}
	return n, err
}

// property reads a property that a view merges into a row, nil if there is none.
func (r *promiseRun) property(ctx context.Context, g *promiseProgram, view, property string, at keys.Key) (any, error) {
	client := g.service.NewClient("members")
	if t := r.table(g, view); t != nil && view[1] != 'i' {
		client = t
	}
	item, err := must(patterns.NewTable[patterns.Row](client, nil)).Get(ctx, at)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, nil
	}
	v, _ := item.Property(property)
	return v, err
}

// finish waits until all work is done, and checks what is stored then.
func (r *promiseRun) finish(ctx context.Context, g *promiseProgram) {
	must := func(what string, err error) {
		if err != nil {
			r.Failf("%s: %w", what, err)
		}
	}
	r.drain(ctx, g)
	if r.lossy {
		time.Sleep(2 * time.Hour)
		report, err := g.store.Sweep(ctx, nil)
		must("sweep", err)
		if report.Failed > 0 {
			r.Failf("sweep: %+v", report)
		}
		r.drain(ctx, g)
	}
	if r.added != "" {
		time.Sleep(30 * time.Minute)
		report, err := reindex.Backfill(ctx, g.store, r.added, "", nil)
		if must("backfill", err); report.Failed+report.Undecided > 0 {
			r.Failf("backfill: %+v", report)
		}
	}
	stored := map[keys.Key]promised{}
	for _, key := range r.all {
		r.get(ctx, g, key)
		if item, err := g.store.Get(ctx, key); err == nil {
			stored[key] = item.Value
		} else if !errors.Is(err, patterns.ErrNotFound) {
			r.Failf("get %v: %w", key, err)
		}
	}
	must("history", r.check(r.all))
	r.compare(ctx, g, stored)
	time.Sleep(3 * time.Hour)
	report, err := g.store.Sweep(ctx, nil)
	must("last sweep", err)
	if report.Failed > 0 {
		r.Failf("last sweep: %+v", report)
	}
	r.drain(ctx, g)
	r.compare(ctx, g, stored)
	r.compareRows(ctx, g, stored)
	for finding, err := range reindex.Verify(ctx, g.store, "", nil) {
		must("verify", err)
		r.Failf("verify: %+v", finding)
	}
	r.take(ctx, g, stored)
}

// drain lets a worker process all messages.
func (r *promiseRun) drain(ctx context.Context, g *promiseProgram) {
	var err error
	for range 60 {
		if err = r.queue.Work(ctx, g.store.Handle); r.queue.Len() == 0 {
			return
		}
		time.Sleep(10 * time.Minute)
	}
	r.Failf("%d messages remain: %w", r.queue.Len(), err)
}

// compare compares all readers with what the entities imply.
func (r *promiseRun) compare(ctx context.Context, g *promiseProgram, stored map[keys.Key]promised) {
	want := func(match func(*promised) bool) (all []keys.Key, sum int64) {
		for key, e := range stored {
			if match(&e) {
				all = append(all, key)
				sum += e.Weight
			}
		}
		slices.SortFunc(all, keys.Key.Compare)
		return all, sum
	}
	equal := func(what, partition, value string, got []keys.Key, err error) {
		match := r.matches(what, partition, value)
		if all, _ := want(match); err != nil || !slices.Equal(all, got) {
			r.Failf("%s has %v for %q in %q, want %v: %w", what, got, value, partition, all, err)
		}
	}
	for _, view := range r.views {
		_, values := r.valueOf(view)
		for i, value := range slices.Repeat(values, 2) {
			partition := r.all[i/len(values)*3].Partition
			match := r.matches(view, partition, value)
			all, sum := want(match)
			var got []keys.Key
			switch {
			case view == "tag":
				for item, err := range g.tag.On(g.store).Query(ctx, partition, secondaryindex.Equal(value), nil) {
					if got = append(got, item.Key); err != nil {
						r.Failf("tag: %w", err)
					}
				}
				equal(view, partition, value, got, nil)
			case g.list[view] != nil:
				got, err := g.list[view].On(g.store).Get(ctx, partition, value)
				equal(view, partition, value, got, err)
			case g.index[view] != nil:
				reader := g.index[view].On(g.store)
				for c, err := range reader.CheckAll(ctx, reader.Query(ctx, partition, secondaryindex.Equal(value), nil), nil) {
					if got = append(got, c.Primary); err != nil || c.Freshness != secondaryindex.Fresh || !c.Found {
						r.Failf("%s: %+v, %w", view, c, err)
						continue
					}
					if r.entry(view, partition, value, c.Entry); !r.slim[view] && c.Value.Version != stored[c.Primary].Version {
						r.Failf("%s has an old copy: %+v", view, c.Value)
					}
				}
				slices.SortFunc(got, keys.Key.Compare)
				equal(view, partition, value, got, nil)
			case view[0] == 'c' || view[0] == 's':
				at, property, n := keys.Key{Partition: "counts", Row: "n_" + keys.Escape(value)}, "Members", int64(len(all))
				if view == "ci" {
					at.Partition = partition
				}
				if view == "sx" {
					property, n = "Total", sum
				}
				if got, err := r.counter(ctx, g, view, property, at); err != nil || got != n {
					r.Failf("%s is %d for %q in %q, want %d: %w", view, got, value, partition, n, err)
				}
			}
		}
	}
	for _, key := range r.all {
		e, ok := stored[key]
		for _, view := range []string{"mi", "mx"} {
			var want any
			at := promisedMirror(&promised{PartitionKey: key.Partition, RowKey: key.Row})
			if ok && view == "mx" && e.Many != none {
				want = e.Version
			}
			if view == "mi" {
				at = keys.Key{Partition: key.Partition, Row: "m_" + keys.Escape(key.Row)}
				if ok && e.One != none {
					want = e.One
				}
			}
			if got, err := r.property(ctx, g, view, "Mirrored", at); r.has(view) && (err != nil || got != want) {
				r.Failf("%s is %v for %v, want %v: %w", view, got, key, want, err)
			}
		}
	}
}

// compareRows counts the rows of both tables: no view has more than the entities imply, and no record of an operation is left.
func (r *promiseRun) compareRows(ctx context.Context, g *promiseProgram, stored map[keys.Key]promised) {
	want, got := map[string]int{}, map[string]int{}
	lists := map[string]bool{}
	for key, e := range stored {
		want[""]++
		for _, view := range r.views {
			of, _ := r.valueOf(view)
			if view == "tag" {
				want[view] += len(slices.Compact(slices.Sorted(slices.Values(e.Tags))))
				continue
			}
			v, ok := of(&e)
			switch {
			case g.index[view] != nil && ok:
				want[view]++
			case g.list[view] != nil && ok && view != "lb":
				if view == "li" {
					v = key.Partition + "/" + v
				}
				if !lists[view+v] {
					want[view]++
				}
				lists[view+v] = true
			}
		}
	}
	for _, name := range []string{"members", "rows"} {
		rows := must(patterns.NewTable[patterns.Row](g.service.NewClient(name), nil))
		for page, err := range rows.Scan(ctx, query.Filter{}, "", nil) {
			if errors.Is(err, patterns.ErrTableNotFound) {
				break
			}
			if err != nil {
				r.Failf("scan: %w", err)
			}
			for _, row := range page.Items {
				view, _ := row.Property("azp_view")
				switch _, part := row.Property("azp_state"); {
				case row.Key.Partition == "~azp", row.Key.Partition == "counts", part:
				case view != nil:
					got[view.(string)]++
				default:
					got[""]++
					if _, ok := stored[row.Key]; !ok || name != "members" {
						r.Failf("row %v of %s is left over", row.Key, name)
					}
				}
			}
		}
	}
	maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
	if !maps.Equal(want, got) {
		r.Failf("rows %v, want %v", got, want)
	}
	n := 0
	for page, err := range g.store.Scan(ctx, query.Filter{}, "", nil) {
		if n += len(page.Items); err != nil {
			r.Failf("scan: %w", err)
		}
	}
	if n != len(stored) {
		r.Failf("a scan of the Store returned %d entities, want %d", n, len(stored))
	}
}

// take stores one more entity with each unique value: it is refused if and only if an entity has the value.
func (r *promiseRun) take(ctx context.Context, g *promiseProgram, stored map[keys.Key]promised) {
	for _, value := range promisedOnes[1:] {
		e := promised{PartitionKey: r.all[0].Partition, RowKey: "new", Version: "new", One: value, Many: none}
		taken := false
		for _, view := range []string{"ui", "ux", "ug"} {
			for _, other := range stored {
				taken = taken || r.has(view) && r.matches(view, e.PartitionKey, value)(&other)
			}
		}
		_, err := g.store.Insert(ctx, &e)
		var duplicate *patterns.DuplicateError
		if errors.As(err, &duplicate) != taken || err != nil && !taken {
			r.Failf("insert of value %q, taken %t: %w", value, taken, err)
		}
		if err := g.store.Delete(ctx, e.key()); err != nil {
			r.Failf("delete: %w", err)
		}
	}
}
