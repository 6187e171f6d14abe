package patterns_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

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
