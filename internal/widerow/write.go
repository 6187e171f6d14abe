package widerow

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
)

var errNoValue = azerr.Errorf("value: %w", azerr.ErrNil)

// Insert stores *v as a new entity. One request; two if t stores plain entities, of which
// rows may exist without a head.
func (t *Table) Insert(ctx context.Context, v any) (Record, error) {
	key, rows, err := t.entityKey(v)
	if err != nil {
		return Record{}, err
	}
	var old *head
	if t.layout.plain {
		switch old, err = t.readHead(ctx, rows); {
		case errors.Is(err, azerr.ErrNotFound):
			old = nil
		case err != nil:
			return Record{}, err
		case !old.gone():
			return Record{}, azerr.ErrExists
		}
	}
	return t.writeWhole(ctx, rows, old, Record{Value: v, Key: key})
}

// Replace stores r's value in place of the entity, on condition that this still has r's
// ETag. One request.
func (t *Table) Replace(ctx context.Context, r Record) (Record, error) {
	rows, err := t.rowsOf(r.Key)
	if err != nil {
		return Record{}, err
	}
	old, err := r.version()
	if err == nil && r.Origin.Selected != nil {
		err = azerr.ErrProjected
	}
	if err != nil {
		return Record{}, err
	}
	return t.writeWhole(ctx, rows, old, r)
}

// Put stores *v whether or not the entity exists. Two requests for each attempt.
func (t *Table) Put(ctx context.Context, v any) (Record, error) {
	key, rows, err := t.entityKey(v)
	if err == nil {
		var content *edm.SplitEntity // refuse what cannot be stored before any request
		if content, err = t.split(rows, v, t.layout, nil, nil); err == nil {
			err = content.Check(0)
		}
	}
	if err != nil {
		return Record{}, err
	}
	var r Record
	err = t.attempt(ctx, func() (bool, error) {
		old, err := t.readHead(ctx, rows)
		switch {
		case errors.Is(err, azerr.ErrNotFound):
			old = nil
		case err != nil:
			return false, err
		}
		r, err = t.writeWhole(ctx, rows, old, Record{Value: v, Key: key})
		return changedSince(err), err
	})
	return r, err
}

// writeWhole writes r's value as the whole entity, in place of the version old, nil if the
// entity must not exist. The unknown properties of r are written too.
func (t *Table) writeWhole(ctx context.Context, rows entityRows, old *head, r Record) (Record, error) {
	content, err := t.split(rows, r.Value, t.layout, nil, r.unknown())
	if err != nil {
		return Record{}, err
	}
	c := &rowChanges{rows: rows, old: old, layout: t.layout, content: content, splits: content.Splits}
	for i := range MaxParts {
		_, exists := old.part(i)
		switch {
		case t.hasContent(content, i):
			c.write = append(c.write, i)
		case exists:
			c.remove = append(c.remove, i)
		}
	}
	h, err := t.apply(ctx, c)
	if err != nil {
		return Record{}, err
	}
	return r.written(h, content, false), nil
}

// hasContent reports whether content, split by t.layout, has properties in part i. The
// rows of a plain entity show that it exists, so it always has the first.
func (t *Table) hasContent(content *edm.SplitEntity, i int) bool {
	return i < t.layout.parts && (len(content.Members(i)) > 0 || t.layout.plain && i == 0)
}

// split distributes the properties of *v over the parts of l; only, if not nil, names
// those to distribute. Encrypted values are bound to the key of the head, in whatever part they are.
func (t *Table) split(rows entityRows, v any, l distribution, only []string, unknown *edm.Unknown) (*edm.SplitEntity, error) {
	var outOfRange error
	rowOf := func(name string, piece int) int {
		if err := l.check(name); err != nil {
			outOfRange = err
			return 0
		}
		return l.partOfPiece(name, piece)
	}
	spec := edm.SplitSpec{Rows: l.parts, RowOf: rowOf, Only: only, Unknown: unknown, Note: noteProperty, Place: rows.head()}
	if l.plain {
		spec.Note = ""
	}
	content, err := t.codec.Split(v, spec)
	switch {
	case outOfRange != nil:
		err = outOfRange
	case err == nil && l.plain && len(content.Splits) > 0:
		name := slices.Sorted(maps.Keys(content.Splits))[0]
		err = &types.PropertyError{Property: name, Want: "at most 64 KiB in a plain row", Got: "more", Err: azerr.ErrTooLarge}
	}
	return content, err
}
