package patterns_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

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
		time.Sleep(2 * time.Hour) // lookup rows younger than Expiry are undecided
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
