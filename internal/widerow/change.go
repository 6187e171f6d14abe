package widerow

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// change is what one call does to the rows of an entity.
type change struct {
	rows    entityRows
	old     *head // nil: the entity must not exist
	layout  layout
	content *edm.SplitEntity
	splits  map[string]int // of the entity afterwards
	write   []int          // parts that get content
	remove  []int          // parts that have no content any more
	merge   bool           // content is merged into the parts
}

// apply carries out c, in one transaction if that is within its limits, and returns the
// new head. Errors of the content are returned before any request.
func (t *Table) apply(ctx context.Context, c *change) (*head, error) {
	next := c.old.next(newVersion(), c.layout.name)
	next.splits = c.splits
	for _, i := range c.remove {
		delete(next.parts, i)
	}
	for _, i := range c.write {
		p, _ := c.old.part(i)
		next.parts[i] = part{next.version(), p.staged}
	}
	changes, err := c.direct(next)
	if err != nil {
		return nil, err
	}
	switch {
	case t.fits(changes):
		next.etag, err = t.commit(ctx, changes, 1)
	case c.merge:
		return nil, tooLargeMerge(c.content)
	default:
		err = t.stage(ctx, c, next)
	}
	var f *wire.BatchFailure
	switch {
	case !errors.As(err, &f) || f.Index < 1:
	case errors.Is(err, azerr.ErrNotFound):
		return nil, fmt.Errorf("%w: row %d of the transaction is missing", ErrTorn, f.Index)
	case errors.Is(err, azerr.ErrExists):
		return nil, fmt.Errorf("%w: row %d of the transaction", ErrForeignRow, f.Index)
	}
	return next, err
}

// direct returns the transaction that makes next of c.old: the head's change first.
func (c *change) direct(next *head) ([]txn.Change, error) {
	changes := make([]txn.Change, 1, 1+len(c.write)+len(c.remove))
	var err error
	if changes[0], err = next.over(c.rows, c.old); err != nil {
		return nil, err
	}
	for _, i := range c.write {
		w, err := c.partWrite(i, next)
		if err != nil {
			return nil, err
		}
		switch _, exists := c.old.part(i); {
		case exists && c.merge:
			w.Kind, w.ETag = wire.Merge, "*"
		case exists: // the row may be missing; then the entity is torn, and this repairs it
			w.Kind = wire.InsertOrReplace
		}
		changes = append(changes, txn.Change{Write: w})
	}
	for _, i := range c.remove {
		p, _ := c.old.part(i)
		changes = append(changes, txn.Change{Write: txn.Delete(c.rows.part(i, p.staged), "*")})
	}
	return changes, nil
}

// over returns the change of the head from old to h; a nil old means an insert.
func (h *head) over(rows entityRows, old *head) (txn.Change, error) {
	body, err := h.body(rows)
	if err != nil {
		return txn.Change{}, err
	}
	c := txn.Change{ID: h.version(), Stamps: headStamps}
	var before txn.Row
	if old != nil {
		before.ETag, c.Base = old.etag, old.base()
	}
	c.Write = txn.Over(rows.head(), before, body)
	return c, c.Check()
}

// partWrite returns the insert of part i under the head next. If a row that is not a part
// of the entity has its key, the insert fails, and so does its transaction.
func (c *change) partWrite(i int, next *head) (wire.Write, error) {
	key := c.rows.part(i, next.parts[i].staged)
	w := wire.Write{Kind: wire.Insert, PartitionKey: key.Partition, RowKey: key.Row}
	note := next.note(c.layout, i)
	room := len(c.content.Members(i)) + 2*len(note) + len(w.PartitionKey) + len(w.RowKey) + 128
	var err error
	w.Body, err = c.content.AppendRow(make([]byte, 0, room), i, w.PartitionKey, w.RowKey, note)
	return w, err
}
