package widerow

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

var errNoValue = azerr.Errorf("value: %w", azerr.ErrNil)

// Insert stores *v as a new entity. One request.
func (t *Table) Insert(ctx context.Context, key keys.Key, v any) (Record, error) {
	rows, err := t.rowsOf(key)
	if err == nil && v == nil {
		err = errNoValue
	}
	if err != nil {
		return Record{}, err
	}
	return t.writeWhole(ctx, rows, nil, Record{Value: v, Key: key})
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
func (t *Table) Put(ctx context.Context, key keys.Key, v any) (Record, error) {
	rows, err := t.rowsOf(key)
	if err == nil && v == nil {
		err = errNoValue
	}
	if err == nil {
		var content *edm.SplitEntity // refuse what cannot be stored before any request
		if content, err = t.split(v, t.layout, nil, nil); err == nil {
			err = content.Check(0)
		}
	}
	if err != nil {
		return Record{}, err
	}
	var r Record
	err = t.attempt(ctx, func() (bool, error) {
		old, err := t.readHead(ctx, rows)
		if err != nil && !errors.Is(err, azerr.ErrNotFound) {
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
	content, err := t.split(r.Value, t.layout, nil, r.unknown())
	if err != nil {
		return Record{}, err
	}
	c := &change{rows: rows, old: old, layout: t.layout, content: content, splits: content.Splits}
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
	return r.at(h), nil
}

// hasContent reports whether content, split by t.layout, has properties in part i.
func (t *Table) hasContent(content *edm.SplitEntity, i int) bool {
	return i < t.layout.parts && len(content.Members(i)) > 0
}

// split distributes the properties of *v over the parts of l; only, if not nil, names
// those to distribute.
func (t *Table) split(v any, l layout, only []string, unknown *edm.Unknown) (*edm.SplitEntity, error) {
	var outOfRange error
	rowOf := func(name string, piece int) int {
		if err := l.check(name); err != nil {
			outOfRange = err
			return 0
		}
		return l.partOfPiece(name, piece)
	}
	content, err := t.codec.Split(v, edm.SplitSpec{Rows: l.parts, RowOf: rowOf, Only: only, Unknown: unknown, Note: noteProperty})
	if outOfRange != nil {
		err = outOfRange
	}
	return content, err
}
