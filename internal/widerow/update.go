package widerow

import (
	"bytes"
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Update reads the entity, lets alter change it, and writes the rows whose content differs.
// alter receives a pointer to the entity. An error from alter is returned as it is. Two
// requests for each attempt, one if nothing differs.
func (t *Table) Update(ctx context.Context, key keys.Key, alter func(any) error) (Record, error) {
	rows, err := t.rowsOf(key)
	if err != nil {
		return Record{}, err
	}
	var r Record
	err = t.attempt(ctx, func() (bool, error) {
		var c *rowChanges
		var err error
		if r, c, err = t.altered(ctx, rows, key, alter); c == nil {
			return false, err
		}
		h, err := t.apply(ctx, c)
		if err != nil {
			return changedSince(err) && !errors.Is(err, azerr.ErrNotFound), err
		}
		r = r.written(h, c.content, false)
		return false, nil
	})
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// altered reads the entity and returns the change that alter makes, nil if there is none.
func (t *Table) altered(ctx context.Context, rows entityRows, key keys.Key, alter func(any) error) (Record, *rowChanges, error) {
	r, err := t.Get(ctx, key)
	if err != nil {
		return Record{}, nil, err
	}
	old := r.Origin.head
	before, err := t.split(rows, r.Value, t.layout, nil, r.unknown())
	if err != nil || old.layout != t.layout.name {
		before = nil // all rows are written
	}
	if err := alter(r.Value); err != nil {
		return Record{}, nil, err
	}
	after, err := t.split(rows, r.Value, t.layout, nil, r.unknown())
	if err != nil {
		return Record{}, nil, err
	}
	resplit := map[int]bool{} // parts whose note changes
	if before != nil {
		for _, splits := range []map[string]int{before.Splits, after.Splits} {
			for name := range splits {
				if before.Splits[name] != after.Splits[name] {
					resplit[t.layout.partOf(name)] = true
				}
			}
		}
	}
	c := &rowChanges{rows: rows, old: old, layout: t.layout, content: after, splits: after.Splits}
	for i := range MaxParts {
		_, exists := old.part(i)
		switch has := t.hasContent(after, i); {
		case has && (resplit[i] || !sameMembers(before, after, i)):
			c.write = append(c.write, i)
		case exists && !has:
			c.remove = append(c.remove, i)
		}
	}
	if len(c.write)+len(c.remove) == 0 {
		return r, nil, nil
	}
	return r, c, nil
}

// sameMembers reports whether row i has the same content before and after. A nil before
// has no content.
func sameMembers(before, after *edm.SplitEntity, i int) bool {
	return before != nil && bytes.Equal(before.Members(i), after.Members(i))
}
