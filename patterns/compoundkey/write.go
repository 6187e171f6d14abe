package compoundkey

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Transaction changes parents and children of one partition together: all changes
// or none, in one request. See [patterns.Batch] for its limits and errors.
type Transaction[P, C any] struct {
	family *Family[P, C]
	batch  *patterns.Batch[P]
}

// Transaction starts an empty transaction.
func (f *Family[P, C]) Transaction() *Transaction[P, C] {
	return &Transaction[P, C]{f, f.parents.Batch()}
}

// Parent adds a change of a parent: [patterns.InsertOp], [patterns.ReplaceOp] of an
// Item, and so on.
func (t *Transaction[P, C]) Parent(op patterns.Op[P]) *Transaction[P, C] {
	t.batch.Add(op)
	return t
}

// Child adds a change of a child.
func (t *Transaction[P, C]) Child(op patterns.Op[C]) *Transaction[P, C] {
	patterns.AddTo(t.batch, t.family.children, op)
	return t
}

// Commit carries out the transaction. One request.
func (t *Transaction[P, C]) Commit(ctx context.Context) (patterns.BatchResult, error) {
	return t.batch.Commit(ctx)
}

// Insert stores a new parent with up to 99 children, all of them or none. A row that
// exists already fails it with [patterns.ErrExists]; the *patterns.BatchError's Index
// is 0 for the parent and i+1 for child i. A child of another parent fails it with
// [ErrStranger]. One request.
func (f *Family[P, C]) Insert(ctx context.Context, parent *P, children ...*C) error {
	if parent == nil {
		return fmt.Errorf("insert family: parent: %w", patterns.ErrNil)
	}
	t := f.Transaction().Parent(patterns.InsertOp(parent))
	own := f.parentID(parent)
	for i, c := range children {
		if c == nil {
			return fmt.Errorf("insert family: child %d: %w", i, patterns.ErrNil)
		}
		if id, _ := f.childID(c); id != own {
			return fmt.Errorf("insert family: child %d: %w", i, ErrStranger)
		}
		t.Child(patterns.InsertOp(c))
	}
	_, err := t.Commit(ctx)
	return err
}

// ErrStranger is a child that is not of the parent it was to be stored with.
var ErrStranger = errors.New("child of another parent")

// AddChild stores a new child, or fails with [patterns.ErrExists]. The parent need not
// exist. One request.
func (f *Family[P, C]) AddChild(ctx context.Context, child *C) (patterns.Item[C], error) {
	return f.children.Insert(ctx, child)
}

// updateTries is how often Update starts over before it gives up.
const updateTries = 16

// Update changes a parent and one of its children together. It reads both, lets
// change alter them, and replaces them in one transaction, if neither was changed
// meanwhile; else it starts over, so change may run several times and must do nothing
// but alter its arguments. Without a race: two reads side by side, one transaction.
// [patterns.ErrNotFound] where either does not exist, and then nothing is written.
func (f *Family[P, C]) Update(ctx context.Context, id ID, child string, change func(*P, *C) error) error {
	if change == nil {
		return fmt.Errorf("update family: function: %w", patterns.ErrNil)
	}
	for try := 1; ; try++ {
		var p patterns.Item[P]
		var c patterns.Item[C]
		g, gctx := errgroup.WithContext(ctx)
		g.Go(func() (err error) { p, err = f.Parent(gctx, id); return err })
		g.Go(func() (err error) { c, err = f.Child(gctx, id, child); return err })
		if err := g.Wait(); err != nil {
			return err
		}
		if err := change(&p.Value, &c.Value); err != nil {
			return err
		}
		_, err := f.Transaction().Parent(patterns.ReplaceOp(p)).Child(patterns.ReplaceOp(c)).Commit(ctx)
		if err == nil || !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try == updateTries {
			return err
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return err
		}
	}
}

// Delete deletes a parent and all its children, whatever their versions; a family
// that does not exist is fine. Up to 100 rows go in one transaction, all or none.
// More go in several, the parent in the last: a Delete that broke off can be
// repeated, and until then the parent is there. A child that is added meanwhile may
// stay. One request for 1,000 rows to find them, one for 100 to delete them, and one
// more for each that is gone by then: a bare parent that does not exist is such a row.
func (f *Family[P, C]) Delete(ctx context.Context, id ID) error {
	parent, err := f.ParentKey(id)
	if err != nil {
		return err
	}
	rows := []keys.Key{parent} // deleted from the end
	filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(keys.Prefix(keys.Escape(id.Parent)+separator)))
	standing := f.bare // a bare parent is outside of the range: it may be there
	for row, err := range f.rows.Query(ctx, filter, &patterns.QueryOptions{Select: []string{}}) {
		if err != nil {
			return err
		}
		if row.Key == parent {
			standing = true
			continue
		}
		rows = append(rows, row.Key)
	}
	if !standing {
		rows = rows[1:]
	}
	for len(rows) > 0 {
		n := max(0, len(rows)-patterns.MaxBatchOps)
		if err := f.deleteRows(ctx, rows[n:]); err != nil {
			return err
		}
		rows = rows[:n]
	}
	return nil
}

// deleteRows deletes rows in one transaction. Where one of them is gone already, the
// transaction fails as a whole, and goes again without it.
func (f *Family[P, C]) deleteRows(ctx context.Context, rows []keys.Key) error {
	for len(rows) > 0 {
		b := f.rows.Batch()
		for _, key := range rows {
			b.Delete(key, azcore.ETag(""))
		}
		_, err := b.Commit(ctx)
		var failed *patterns.BatchError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, patterns.ErrNotFound) && errors.As(err, &failed) && failed.Index >= 0:
			rows = append(append([]keys.Key{}, rows[:failed.Index]...), rows[failed.Index+1:]...)
		default:
			return err
		}
	}
	return nil
}
