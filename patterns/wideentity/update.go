package wideentity

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Update reads the entity at key, lets alter change it, and stores the rows that
// alter made a difference to, under the entity's ETag. When someone else was faster
// it starts over, so alter may run several times and must do nothing but change its
// argument. An error from alter ends the update and is returned as it is. Properties
// without a field in T stay.
//
// Two requests without a race, one where alter changed nothing; two more for each
// lost race, at most [Options.Tries] times. [patterns.ErrNotFound] where there is no
// entity.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, alter func(*T) error) (Item[T], error) {
	if alter == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", patterns.ErrNil)
	}
	rows, err := rowsOf(key)
	if err != nil {
		return Item[T]{}, fmt.Errorf("update: %w", err)
	}
	var item Item[T]
	var stop error // no race
	err = t.race(ctx, func() (err error) {
		var c *change
		if item, c, stop = t.altered(ctx, rows, key, alter); stop != nil || c == nil {
			return nil
		}
		h, err := t.apply(ctx, c)
		if err == nil {
			item.of(h)
		} else if errors.Is(err, patterns.ErrNotFound) {
			stop, err = fmt.Errorf("update: %w", err), nil
		}
		return err
	})
	if stop != nil {
		return Item[T]{}, stop
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("update: %w", err)
	}
	return item, nil
}

// altered reads the entity and gives the change that alter makes, nil for none.
func (t *Table[T]) altered(ctx context.Context, rows entityRows, key keys.Key, alter func(*T) error) (Item[T], *change, error) {
	item, err := t.Get(ctx, key)
	if err != nil {
		return item, nil, err
	}
	before, err := t.scatter(&item.Value, t.layout, nil, &item.rest)
	if err != nil {
		before = nil // as stored, it cannot be written: then all of it is written
	}
	if err := alter(&item.Value); err != nil {
		return item, nil, err
	}
	after, err := t.scatter(&item.Value, t.layout, nil, &item.rest)
	if err != nil {
		return item, nil, fmt.Errorf("update: %w", err)
	}
	if item.head.layout != t.layout.name {
		before = nil
	}
	resplit := map[int]bool{} // parts whose note changes
	if before != nil {
		for _, splits := range []map[string]int{before.Splits, after.Splits} {
			for name := range splits {
				if before.Splits[name] != after.Splits[name] {
					resplit[t.layout.place(name)] = true
				}
			}
		}
	}
	c := &change{rows: rows, old: item.head, layout: t.layout, content: after, splits: after.Splits}
	for i := range MaxParts {
		_, exists := item.head.part(i)
		holds := i < t.layout.parts && len(after.Members(i)) > 0
		switch {
		case holds && (before == nil || resplit[i] || !bytes.Equal(before.Members(i), after.Members(i))):
			c.write = append(c.write, i)
		case exists && !holds:
			c.remove = append(c.remove, i)
		}
	}
	if len(c.write)+len(c.remove) == 0 {
		return item, nil, nil
	}
	return item, c, nil
}
