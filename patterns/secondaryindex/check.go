package secondaryindex

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// Freshness is the result of comparing a copy with its primary.
type Freshness int

const (
	// Fresh means that the copy is what the primary implies.
	Fresh Freshness = iota
	// Stale means that it is not. The update may still be on its way.
	Stale
	// Repaired means that the copy was stale and has been corrected or removed.
	Repaired
)

var freshnessNames = [...]string{"fresh", "stale", "repaired"}

func (f Freshness) String() string {
	if f < 0 || int(f) >= len(freshnessNames) {
		return "unknown"
	}
	return freshnessNames[f]
}

// Checked is an entry that was compared with its primary.
type Checked[T any] struct {
	Entry[T] // as it was read from the index

	// Item is the primary itself with all its properties; it can be passed to
	// [patterns.Store.PutItem] and the like. It is zero if Found is false.
	Item patterns.Item[T]

	// Found means that the primary exists and has the indexed value. If it is false, the
	// entry should not exist.
	Found bool

	Freshness Freshness
}

// CheckOptions are the options of [Reader.GetFresh], [Reader.Check] and
// [Reader.CheckAll]. nil and the zero value mean the defaults.
type CheckOptions struct {
	// Repair corrects stale copies, and removes those that should not exist. If the update
	// of a copy is already on its way, Repair only completes it earlier.
	Repair bool

	// Parallel is the number of entries that CheckAll checks concurrently. Zero means 8.
	Parallel int
}

const defaultParallel = 8

// GetFresh is [Reader.Get] followed by [Reader.Check]. It returns the primary itself, and
// how fresh the copy was. It fails with [patterns.ErrNotFound] if no primary with the
// value was found; Freshness is then Stale or Repaired if there was an entry, and Fresh
// if there was none.
//
// Two requests if the copy is fresh, one if there is none, and one more if it is stale.
//
// As long as only Stores change the entities, GetFresh reads the index as a map from values to primaries which each commit changes
// at one moment, also in an index made by [Inter] and with [patterns.Later]: a primary is found from its commit on, and not any more after a commit that
// takes its value away. A copy that has not been written yet is stale.
func (r *Reader[T]) GetFresh(ctx context.Context, partition, value string, opts *CheckOptions) (patterns.Item[T], Freshness, error) {
	e, err := r.get(ctx, partition, value)
	if err != nil {
		return patterns.Item[T]{}, Fresh, err
	}
	c, err := r.check(ctx, e, opts != nil && opts.Repair, true)
	switch {
	case err != nil:
		err = r.fail("check", err)
	case !c.Found:
		err = r.fail("get", patterns.ErrNotFound)
		if c.reserved { // there is no entry
			c.Freshness = Fresh
		}
	}
	return c.Item, c.Freshness, err
}

// Check reads the primary of an entry and compares them. One request if the entry is
// fresh. A stale one is read again, with a second request, so that an entry that changed
// since it was read is not taken for stale. So is one that was read with a selection, with two more.
func (r *Reader[T]) Check(ctx context.Context, e Entry[T], opts *CheckOptions) (Checked[T], error) {
	c, err := r.check(ctx, e, opts != nil && opts.Repair, false)
	if err != nil {
		return c, r.fail("check", err)
	}
	return c, nil
}

// CheckAll checks each entry of a sequence, such as that of [Reader.Query], and keeps its
// order. It makes the requests of [Reader.Check] for each entry, several concurrently.
func (r *Reader[T]) CheckAll(ctx context.Context, entries iter.Seq2[Entry[T], error], opts *CheckOptions) iter.Seq2[Checked[T], error] {
	var o CheckOptions
	if opts != nil {
		o = *opts
	}
	bad := cmp.Or(r.err, azerr.Default(&o.Parallel, defaultParallel, "Parallel"))
	return func(yield func(Checked[T], error) bool) {
		if bad != nil {
			yield(Checked[T]{}, r.fail("check", bad))
			return
		}
		// Entries are read in pages, so collecting some of them costs no further request.
		var batch []Entry[T]
		flush := func() bool {
			window := calls.Window{Start: o.Parallel, Max: o.Parallel}
			for c, err := range calls.Ordered(ctx, len(batch), window, func(ctx context.Context, i int) (Checked[T], error) {
				return r.Check(ctx, batch[i], &o)
			}) {
				if !yield(c, err) || err != nil {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for e, err := range entries {
			if err != nil {
				if flush() {
					yield(Checked[T]{}, err)
				}
				return
			}
			if batch = append(batch, e); len(batch) == o.Parallel && !flush() {
				return
			}
		}
		flush()
	}
}

// check compares e with its primary. If they differ, it reads the entry again, until the
// entry is the same before and after the primary was read. A row that is reserved is an entry if reserved is set.
//
// Then the result is that of a moment. An entity that has a unique value owns the row from before the commit that assigned it the value until after the
// one that took it away. So no entity had the value when the row did not exist, and only the owner can have had it otherwise: what the primary
// implies is true of the moment at which it was read, if the row had the same owner before and after.
func (r *Reader[T]) check(ctx context.Context, e Entry[T], repair, reserved bool) (Checked[T], error) {
	if r.err != nil {
		return Checked[T]{}, r.err
	}
	for {
		item, found, err := r.primary(ctx, e)
		c := Checked[T]{Entry: e, Item: item, Found: found != notImplied}
		if found == equalCopy && !e.projected || err != nil {
			return c, err
		}
		c.Freshness = Stale
		current, err := r.at(ctx, e.Key)
		if err == nil && current.reserved && !reserved {
			err = patterns.ErrNotFound
		}
		if errors.Is(err, patterns.ErrNotFound) && !c.Found {
			return c, nil // neither exists any more
		}
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return c, err
		}
		if err == nil && (current.ETag != e.ETag || e.projected) {
			e = current
			continue
		}
		if repair && (c.Found || !e.reserved) { // otherwise an operation is about to write or to release the row
			row := patterns.RowRef{View: r.index.def.Name, Partition: e.Key.Partition, Row: e.Key.Row}
			if err := r.store.Repair(ctx, e.Primary, row); err != nil {
				return c, err
			}
			c.Freshness = Repaired
		}
		return c, nil
	}
}

// comparison is the result of comparing an entry with its primary.
type comparison int

const (
	notImplied    comparison = iota // the primary does not exist, or does not imply the row
	differentCopy                   // the primary implies the row with other properties
	equalCopy
)

// primary reads the primary of e and compares them. The item is zero if the primary does
// not imply the row.
func (r *Reader[T]) primary(ctx context.Context, e Entry[T]) (patterns.Item[T], comparison, error) {
	item, err := r.store.Get(ctx, e.Primary)
	if errors.Is(err, patterns.ErrNotFound) {
		return patterns.Item[T]{}, notImplied, nil
	}
	if err != nil {
		return patterns.Item[T]{}, notImplied, err
	}
	result, err := r.index.compare(&item.Value, e)
	if result == notImplied || err != nil {
		return patterns.Item[T]{}, notImplied, err
	}
	return item, result, nil
}

// compare compares e with the copy that primary implies.
func (ix *Index[T]) compare(primary *T, e Entry[T]) (comparison, error) {
	shown := *primary // the function of the value may change it by mistake
	rows, err := ix.rows(&shown)
	if err != nil {
		return notImplied, err
	}
	if len(rows) != 1 || rows[0].Key != e.Key {
		return notImplied, nil
	}
	equal, err := ix.def.Type.EqualCopies(ix.content(primary), &e.Value, e.Key, ix.only)
	if err != nil {
		return notImplied, err
	}
	if equal {
		return equalCopy, nil
	}
	return differentCopy, nil
}
