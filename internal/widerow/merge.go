package widerow

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Merge stores the named properties of r's value over those of the entity, on condition
// that this still has r's ETag. One request. If that is "*" the entity may have any version: two
// requests for each attempt.
func (t *Table) Merge(ctx context.Context, r Record, names []string) (Record, error) {
	rows, err := t.rowsOf(r.Key)
	if err != nil {
		return Record{}, err
	}
	if r.ETag == "*" {
		return t.mergeAny(ctx, rows, r, names)
	}
	old, err := r.version()
	if err == nil && !r.has(names) {
		err = azerr.ErrProjected
	}
	if err != nil {
		return Record{}, err
	}
	h, content, err := t.mergeInto(ctx, rows, old, r.Value, names, nil, r.unknown())
	if err != nil {
		return Record{}, err
	}
	return r.written(h, content, true), nil
}

// mergeAny merges into any version of the entity, which must exist. The result has the named
// properties only.
func (t *Table) mergeAny(ctx context.Context, rows entityRows, r Record, names []string) (Record, error) {
	if r.Origin != nil && !r.has(names) {
		return Record{}, azerr.ErrProjected
	}
	content, err := t.splitNamed(rows, r.Value, t.layout, names, nil) // refuse what cannot be stored before any request
	if err != nil {
		return Record{}, err
	}
	r.Origin = &Origin{Selected: slices.Clone(names)}
	err = t.attempt(ctx, func() (bool, error) {
		old, err := t.readHead(ctx, rows, names...)
		if err == nil && old.gone() {
			err = azerr.ErrNotFound
		}
		if err != nil {
			return false, err
		}
		h, written, err := t.mergeInto(ctx, rows, old, r.Value, names, content, nil)
		content = nil // mergeInto changes it
		if err == nil {
			r = r.written(h, written, true)
		}
		return changedSince(err), err
	})
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// mergeInto merges the named properties of *v into the version old of the entity, and
// returns the new head and what was written. content is what splitNamed returned for the layout of t, or nil.
// unknown is how the rows store the properties, nil if they were not read.
func (t *Table) mergeInto(ctx context.Context, rows entityRows, old *head, v any, names []string, content *edm.SplitEntity, unknown *edm.Unknown) (*head, *edm.SplitEntity, error) {
	l, err := t.layout.stored(old.layout)
	if err != nil {
		return nil, nil, err
	}
	if content == nil || l.name != t.layout.name {
		if content, err = t.splitNamed(rows, v, l, names, unknown); err != nil {
			return nil, nil, err
		}
	}
	c := &rowChanges{rows: rows, old: old, layout: l, content: content, splits: maps.Clone(old.splits), merge: true}
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
	return h, content, err
}

// splitNamed distributes the named properties of *v, which must have values.
func (t *Table) splitNamed(rows entityRows, v any, l distribution, names []string, unknown *edm.Unknown) (*edm.SplitEntity, error) {
	if err := t.checkNames(names); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("properties: %w", azerr.ErrNil)
	}
	content, err := t.split(rows, v, l, names, unknown)
	if err != nil {
		return nil, err
	}
	if len(content.Missing) > 0 {
		return nil, &types.PropertyError{Property: content.Missing[0], Want: "a value", Got: "no value, and a merge cannot remove the property"}
	}
	size := 0
	for i := range l.parts {
		size += len(content.Members(i))
	}
	if size > t.BatchBytes {
		return nil, tooLarge(content)
	}
	return content, content.Check(0)
}

// tooLarge is the error of a write that is never staged and too large for one transaction.
func tooLarge(content *edm.SplitEntity) error {
	return &types.PropertyError{
		Property: content.Largest(), Want: "at most 4 MiB in one transaction", Got: "more",
		Err: azerr.ErrTooLarge,
	}
}
