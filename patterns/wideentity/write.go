package wideentity

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Writes up to 4 MiB are one transaction. Larger ones are staged, see the package's
// documentation: then each write below takes, in place of the transaction, one
// for each 4 MiB and one more, and a last one where staged rows are replaced.
// Readers see all of a write or nothing either way.
//
// When a reply was lost, the head is read to find out what became of the write: one
// request more.

// Insert stores v as a new entity, or fails with [patterns.ErrExists] and changes
// nothing. One request.
func (t *Table[T]) Insert(ctx context.Context, key keys.Key, v *T) (Item[T], error) {
	rows, err := rowsOf(key)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	item, err := t.whole(ctx, rows, Item[T]{Key: key}, v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	return item, nil
}

// Replace stores item.Value in place of the entity that item was read from, if that
// still has item's ETag: [patterns.ErrConflict] where it was changed since,
// [patterns.ErrNotFound] where it is gone. Nothing of the former value remains but
// the properties that T has no field for. An item that was read in part is refused
// with [patterns.ErrProjected]. One request.
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	rows, err := t.conditional(&item)
	if err == nil && item.Projected() {
		err = patterns.ErrProjected
	}
	if err == nil {
		item, err = t.whole(ctx, rows, item, &item.Value)
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("replace: %w", err)
	}
	return item, nil
}

// Put stores v whether the entity exists or not, and whatever it is. A change that
// someone else made since v was read is lost, and so are properties that T has no
// field for. Two requests, two more for each lost race, at most [Options.Tries]
// times.
func (t *Table[T]) Put(ctx context.Context, key keys.Key, v *T) (Item[T], error) {
	rows, err := rowsOf(key)
	if err == nil && v == nil {
		err = fmt.Errorf("value: %w", patterns.ErrNil)
	}
	if err == nil {
		var content *edm.SplitEntity // what cannot be stored, before any request
		if content, err = t.scatter(v, t.layout, nil, nil); err == nil {
			err = content.Check(0)
		}
	}
	var item Item[T]
	if err == nil {
		err = t.race(ctx, func() error {
			old, err := t.readHead(ctx, rows)
			if err != nil && !errors.Is(err, patterns.ErrNotFound) {
				return err
			}
			item, err = t.whole(ctx, rows, Item[T]{Key: key, head: old}, v)
			return err
		})
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("put: %w", err)
	}
	return item, nil
}

// race calls try until it has not lost a race, or has lost too many.
func (t *Table[T]) race(ctx context.Context, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if err == nil || !lostRace(err) || n >= t.tries {
			return err
		}
		if perr := parallel.Pause(ctx, n); perr != nil {
			return errors.Join(err, perr)
		}
	}
}

// conditional checks an item that is to be changed as it was read.
func (t *Table[T]) conditional(item *Item[T]) (entityRows, error) {
	rows, err := rowsOf(item.Key)
	if err == nil && (item.head == nil || item.head.etag != string(item.ETag)) {
		err = fmt.Errorf("%w: the item was not read whole, nor with its head", patterns.ErrBadETag)
	}
	return rows, err
}

// whole writes v as all of the entity that item is, under item's head.
func (t *Table[T]) whole(ctx context.Context, rows entityRows, item Item[T], v *T) (Item[T], error) {
	if v == nil {
		return item, fmt.Errorf("value: %w", patterns.ErrNil)
	}
	content, err := t.scatter(v, t.layout, nil, &item.rest)
	if err != nil {
		return item, err
	}
	c := &change{rows: rows, old: item.head, layout: t.layout, content: content, splits: content.Splits}
	for i := range MaxParts {
		_, exists := item.head.part(i)
		switch {
		case i < t.layout.parts && len(content.Members(i)) > 0:
			c.write = append(c.write, i)
		case exists:
			c.remove = append(c.remove, i)
		}
	}
	h, err := t.apply(ctx, c)
	if err != nil {
		return item, err
	}
	item.Value = *v
	item.of(h)
	return item, nil
}

// scatter distributes the properties of v, or only some, over the parts of l.
func (t *Table[T]) scatter(v *T, l layout, only []string, rest *edm.Unknown) (*edm.SplitEntity, error) {
	var misplaced error
	place := func(name string, piece int) int {
		if err := l.check(name); err != nil {
			misplaced = err
			return 0
		}
		return l.at(name, piece)
	}
	content, err := t.codec.Split(v, edm.SplitSpec{Rows: l.parts, RowOf: place, Only: only, Unknown: rest, Note: partNote})
	if misplaced != nil {
		err = misplaced
	}
	return content, err
}
