package compoundkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores a new parent with up to 99 children, all of them or none, and returns them
// in the order of the arguments. If one of the rows exists already, the error matches
// [patterns.ErrExists]; the Index of the *patterns.BatchError is 0 for the parent and i+1
// for child i. A child of another parent is an [ErrWrongParent]. One request.
func (f *Family[P, C]) Insert(ctx context.Context, parent *P, children ...*C) (Members[P, C], error) {
	if err := f.usable(); err != nil {
		return Members[P, C]{}, err
	}
	if parent == nil {
		return Members[P, C]{}, fmt.Errorf("insert family: parent: %w", patterns.ErrNil)
	}
	first, op := inserted(f.parents, parent)
	t, id := f.Transaction().Parent(op), f.parentID(parent)
	m := Members[P, C]{Parent: &first, Children: make([]patterns.Item[C], len(children))}
	for i, c := range children {
		if c == nil {
			return Members[P, C]{}, fmt.Errorf("insert family: child %d: %w", i, patterns.ErrNil)
		}
		if other, _ := f.childID(c); other != id {
			return Members[P, C]{}, fmt.Errorf("insert family: child %d: %w", i, ErrWrongParent)
		}
		var op patterns.Op[C]
		m.Children[i], op = inserted(f.children, c)
		t.Child(op)
	}
	result, err := t.Commit(ctx)
	if err != nil {
		return Members[P, C]{}, err
	}
	first.ETag = result.ETags[0]
	for i, etag := range result.ETags[1:] {
		m.Children[i].ETag = etag
	}
	return m, nil
}

// inserted returns the operation that inserts v, and the row without its ETag.
func inserted[T any](table *patterns.Table[T], v *T) (patterns.Item[T], patterns.Op[T]) {
	op := patterns.InsertOp(v)
	key, err := table.Key(v)
	if err == nil { // otherwise the transaction returns the error
		op = op.At(key)
	}
	return patterns.Item[T]{Value: *v, Key: key}, op
}

// AddChild stores a new child, or fails with [patterns.ErrExists]. The parent need not
// exist. One request.
func (f *Family[P, C]) AddChild(ctx context.Context, child *C) (patterns.Item[C], error) {
	if err := f.usable(); err != nil {
		return patterns.Item[C]{}, err
	}
	return f.children.Insert(ctx, child)
}

// updateTries is how often Update reads and writes before it fails with ErrConflict.
const updateTries = 16

// Update reads a parent and one of its children, calls change to modify them, and replaces
// both in one transaction. If another client changed one of them meanwhile Update starts
// over, at most 15 times, so change may be called several times and must do nothing but
// modify its arguments. An error of change ends the update and is returned as it is. If
// the parent or the child does not exist, the error matches [patterns.ErrNotFound].
//
// Without a conflict three requests: two concurrent reads and a transaction. Three more
// for each conflict.
func (f *Family[P, C]) Update(ctx context.Context, id ID, child string, change func(*P, *C) error) (patterns.Item[P], patterns.Item[C], error) {
	if change == nil {
		return patterns.Item[P]{}, patterns.Item[C]{}, fmt.Errorf("update family: function: %w", patterns.ErrNil)
	}
	for try := 1; ; try++ {
		p, c, err := f.readBoth(ctx, id, child)
		if err != nil {
			return patterns.Item[P]{}, patterns.Item[C]{}, err
		}
		if err := change(&p.Value, &c.Value); err != nil {
			return patterns.Item[P]{}, patterns.Item[C]{}, err
		}
		result, err := f.Transaction().Parent(patterns.ReplaceOp(p)).Child(patterns.ReplaceOp(c)).Commit(ctx)
		if err == nil {
			p.ETag, p.Timestamp = result.ETags[0], time.Time{}
			c.ETag, c.Timestamp = result.ETags[1], time.Time{}
			return p, c, nil
		}
		if !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try == updateTries {
			return patterns.Item[P]{}, patterns.Item[C]{}, err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return patterns.Item[P]{}, patterns.Item[C]{}, err
		}
	}
}

func (f *Family[P, C]) readBoth(ctx context.Context, id ID, child string) (p patterns.Item[P], c patterns.Item[C], err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { p, err = f.Parent(ctx, id); return err })
	g.Go(func() (err error) { c, err = f.Child(ctx, id, child); return err })
	err = g.Wait()
	return p, c, err
}
