package secondaryindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Freshness says how a copy stood to its primary when both were read.
type Freshness int

const (
	// Fresh: the copy was what the primary implies.
	Fresh Freshness = iota
	// Stale: it was not. A change may be on its way to it still.
	Stale
	// Repaired: it was not, and has been put right, or removed.
	Repaired
)

var freshnessNames = [...]string{"fresh", "stale", "repaired"}

func (f Freshness) String() string {
	if f < 0 || int(f) >= len(freshnessNames) {
		return "unknown"
	}
	return freshnessNames[f]
}

// Checked is an entry that was followed to its primary.
type Checked[T any] struct {
	Entry[T] // as the index had it

	// Item is the primary itself, with all its properties, ready for
	// [patterns.Store.PutItem] and its like. It is zero where Found is false.
	Item patterns.Item[T]

	// Found says that the primary exists and has the value that it was found by. If
	// not, the entry should not be there.
	Found bool

	Freshness Freshness
}

// FreshOptions are the options of the reads that check. nil and the zero value mean
// the defaults.
type FreshOptions struct {
	// Repair puts stale copies right and removes those that should not be there. A
	// change that is on its way is only brought forward by it.
	Repair bool

	// Parallel is how many entries of a sequence are checked at once. Zero means 8.
	Parallel int
}

const defaultParallel = 8

// Hydrate reads the primary of e: the entity itself, with all its properties. It
// fails with [patterns.ErrNotFound] where that is gone, or no longer has the value
// that e was found by. One request.
func (r *Reader[T]) Hydrate(ctx context.Context, e Entry[T]) (patterns.Item[T], error) {
	item, agrees, err := r.primary(ctx, e)
	if err == nil && agrees == elsewhere {
		err = patterns.ErrNotFound
	}
	if err != nil {
		return patterns.Item[T]{}, fmt.Errorf("hydrate: index %q: %w", r.index.by.Name, err)
	}
	return item, nil
}

// GetFresh is [Reader.Get] followed to the primary, which has the last word: it
// gives the entity itself, and how the copy stood to it. It fails with
// [patterns.ErrNotFound] where no primary with the value was found; the Freshness is
// then Stale or Repaired if there was an entry, and Fresh if there was none.
//
// Two requests where the copy is fresh, one where there is none. One that seems stale is
// read again, so that a copy that changed in between is not taken for it.
//
// It finds what the index has. A primary whose copy has not arrived yet, in an index
// made by [Inter], is not found.
func (r *Reader[T]) GetFresh(ctx context.Context, partition, value string, opts *FreshOptions) (patterns.Item[T], Freshness, error) {
	e, err := r.Get(ctx, partition, value)
	if err != nil {
		return patterns.Item[T]{}, Fresh, err
	}
	c, err := r.Check(ctx, e, opts)
	if err == nil && !c.Found {
		err = fmt.Errorf("get: index %q: %w", r.index.by.Name, patterns.ErrNotFound)
	}
	return c.Item, c.Freshness, err
}

// Check follows one entry to its primary. One request where it is fresh; see
// [Reader.GetFresh].
func (r *Reader[T]) Check(ctx context.Context, e Entry[T], opts *FreshOptions) (Checked[T], error) {
	c, err := r.check(ctx, e, opts != nil && opts.Repair)
	if err != nil {
		return c, fmt.Errorf("check: index %q: %w", r.index.by.Name, err)
	}
	return c, nil
}

// Fresh checks each entry of a sequence, such as that of [Reader.Prefix], and keeps
// its order; entries whose primary is gone come with Found false. One request for
// each that is fresh, several at once.
func (r *Reader[T]) Fresh(ctx context.Context, entries iter.Seq2[Entry[T], error], opts *FreshOptions) iter.Seq2[Checked[T], error] {
	var o FreshOptions
	if opts != nil {
		o = *opts
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	return func(yield func(Checked[T], error) bool) {
		// Entries come a page at a time, so taking some ahead costs no request more.
		var some []Entry[T]
		flush := func() bool {
			window := parallel.Window{Start: o.Parallel, Max: o.Parallel}
			for c, err := range parallel.Ordered(ctx, len(some), window, func(ctx context.Context, i int) (Checked[T], error) {
				return r.Check(ctx, some[i], &o)
			}) {
				if !yield(c, err) || err != nil {
					return false
				}
			}
			some = some[:0]
			return true
		}
		for e, err := range entries {
			if err != nil {
				if flush() {
					yield(Checked[T]{}, err)
				}
				return
			}
			if some = append(some, e); len(some) == o.Parallel && !flush() {
				return
			}
		}
		flush()
	}
}

// agreement is what a primary says about an entry.
type agreement int

const (
	elsewhere agreement = iota // it is gone, or does not imply the row
	differs                    // it implies the row, with other properties
	agrees
)

// primary reads the primary of e and asks it.
func (r *Reader[T]) primary(ctx context.Context, e Entry[T]) (patterns.Item[T], agreement, error) {
	item, err := r.store.Get(ctx, e.Primary)
	if errors.Is(err, patterns.ErrNotFound) {
		return patterns.Item[T]{}, elsewhere, nil
	}
	if err != nil {
		return patterns.Item[T]{}, elsewhere, err
	}
	a, err := r.index.ask(&item.Value, e)
	if a == elsewhere || err != nil {
		return patterns.Item[T]{}, elsewhere, err
	}
	return item, a, nil
}

// ask compares e with what the primary implies.
func (ix *Index[T]) ask(primary *T, e Entry[T]) (agreement, error) {
	shown := *primary // a function that folds its value in place is an easy mistake
	rows, err := ix.Rows(&shown)
	if err != nil {
		return elsewhere, err
	}
	if len(rows) != 1 || rows[0].Key() != e.Key {
		return elsewhere, nil
	}
	same, err := ix.same(primary, &e.Value, e.Key)
	if err != nil || same {
		return agrees, err
	}
	return differs, nil
}

// same reports whether a copy of a is a copy of b.
func (ix *Index[T]) same(a, b *T, key keys.Key) (bool, error) {
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Only: ix.opts.Only}
	var rows [2][]byte
	for i, v := range []*T{a, b} {
		var err error
		if rows[i], err = ix.by.Codec.Append(nil, v, e); err != nil {
			return false, err
		}
	}
	if bytes.Equal(rows[0], rows[1]) || ix.opts.Only == nil || !ix.by.Codec.Open() {
		return bytes.Equal(rows[0], rows[1]), nil
	}
	// A bag is written whole; only the names asked for count.
	var picked [2]edm.Properties
	for i, row := range rows {
		all, _, err := edm.ReadProperties(row)
		if err != nil {
			return false, err
		}
		picked[i] = edm.Properties{}
		for _, name := range ix.opts.Only {
			if v, ok := all[name]; ok {
				picked[i][name] = v
			}
		}
	}
	return picked[0].Equal(picked[1]), nil
}

// check follows e to its primary. When they disagree the entry is read again, until
// it is the same before and after the primary was read.
func (r *Reader[T]) check(ctx context.Context, e Entry[T], repair bool) (Checked[T], error) {
	for {
		item, a, err := r.primary(ctx, e)
		c := Checked[T]{Entry: e, Item: item, Found: a != elsewhere}
		if a == agrees || err != nil {
			return c, err
		}
		c.Freshness = Stale
		again, err := r.at(ctx, e.Key)
		if errors.Is(err, patterns.ErrNotFound) && !c.Found {
			return c, nil // both are gone now
		}
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return c, err
		}
		if err == nil && again.ETag != e.ETag {
			e = again
			continue
		}
		if repair {
			if err := r.repair(ctx, e); err != nil {
				return c, err
			}
			c.Freshness = Repaired
		}
		return c, nil
	}
}
