package wideentity

import (
	"context"
	"fmt"
	"maps"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Merge stores the named properties of item.Value over those of the entity, if that
// still has item's ETag, and keeps its others. Only the rows of these properties,
// and the head, are touched. A merge cannot remove a property: one that item.Value
// has no value for (nil, or left out when empty) is an error. One request, of at
// most 4 MiB: [patterns.ErrTooLarge] names the largest property otherwise.
//
// https://learn.microsoft.com/rest/api/storageservices/merge-entity
func (t *Table[T]) Merge(ctx context.Context, item Item[T], properties ...string) (Item[T], error) {
	rows, err := t.conditional(&item)
	if err == nil && !item.covers(properties) {
		err = patterns.ErrProjected
	}
	if err == nil {
		item, err = t.some(ctx, rows, item, properties)
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("merge: %w", err)
	}
	return item, nil
}

// Set stores the named properties of v over those of the entity, whatever its
// version, and keeps its others, as Merge does. [patterns.ErrNotFound] where there is
// no entity. Two requests, two more for each lost race, at most [Options.Tries]
// times.
func (t *Table[T]) Set(ctx context.Context, key keys.Key, v *T, properties ...string) error {
	rows, err := rowsOf(key)
	if err == nil && v == nil {
		err = fmt.Errorf("value: %w", patterns.ErrNil)
	}
	if err == nil {
		_, err = t.named(v, t.layout, properties) // what cannot be stored, before any request
	}
	if err == nil {
		var missing error // no race
		err = t.race(ctx, func() error {
			old, err := t.readHead(ctx, rows)
			if err != nil {
				missing = err
				return nil
			}
			_, err = t.some(ctx, rows, Item[T]{Value: *v, Key: key, head: old}, properties)
			return err
		})
		if err == nil {
			err = missing
		}
	}
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	return nil
}

// named distributes the named properties of v, which must have values.
func (t *Table[T]) named(v *T, l layout, names []string) (*edm.SplitEntity, error) {
	if err := t.checkNames(names); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("properties: %w", patterns.ErrNil)
	}
	content, err := t.scatter(v, l, names, nil)
	if err != nil {
		return nil, err
	}
	if len(content.Missing) > 0 {
		return nil, &patterns.PropertyError{Property: content.Missing[0], Want: "a value", Got: "none, and a merge cannot remove it"}
	}
	size := 0
	for i := range l.parts {
		size += len(content.Members(i))
	}
	if size > t.batchBytes {
		return nil, tooLargeMerge(content)
	}
	return content, content.Check(0)
}

func tooLargeMerge(content *edm.SplitEntity) error {
	return &patterns.PropertyError{
		Property: content.Largest(), Want: "a merge of at most 4 MiB in one transaction", Got: "more",
		Err: patterns.ErrTooLarge,
	}
}

// some merges the named properties into the entity that item is, under item's head.
func (t *Table[T]) some(ctx context.Context, rows entityRows, item Item[T], names []string) (Item[T], error) {
	l, err := t.layout.stored(item.head.layout)
	if err != nil {
		return item, err
	}
	content, err := t.named(&item.Value, l, names)
	if err != nil {
		return item, err
	}
	c := &change{rows: rows, old: item.head, layout: l, content: content, splits: maps.Clone(item.head.splits), merge: true}
	for _, name := range names {
		pieces := max(content.Splits[name], 1)
		for surplus := pieces; surplus < c.splits[name]; surplus++ {
			content.Clear(name, surplus)
		}
		delete(c.splits, name)
		if pieces > 1 {
			if c.splits == nil {
				c.splits = map[string]int{}
			}
			c.splits[name] = pieces
		}
	}
	for i := range l.parts {
		if len(content.Members(i)) > 0 {
			c.write = append(c.write, i)
		}
	}
	h, err := t.apply(ctx, c)
	if err != nil {
		return item, err
	}
	item.of(h)
	return item, nil
}
