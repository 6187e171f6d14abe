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

// rowChanges is what one call does to the rows of an entity.
type rowChanges struct {
	rows    entityRows
	old     *head // nil: the entity must not exist
	layout  distribution
	content *edm.SplitEntity
	splits  map[string]int // of the entity afterwards
	write   []int          // parts that get content
	remove  []int          // parts that have no content any more
	merge   bool           // content is merged into the parts
}

// apply carries out c, in one transaction if that is within its limits, and returns the
// new head. Errors of the content are returned before any request.
func (t *Table) apply(ctx context.Context, c *rowChanges) (*head, error) {
	next := c.old.next(newVersion(), c.layout.name)
	next.splits = c.splits
	for _, i := range c.remove {
		delete(next.parts, i)
	}
	for _, i := range c.write {
		p, _ := c.old.part(i)
		next.parts[i] = entityPart{version: next.version()}
		if !c.layout.plain {
			next.parts[i] = entityPart{version: next.version(), staged: p.staged}
		}
	}
	changes, err := c.direct(next)
	if err != nil {
		return nil, err
	}
	switch {
	case t.fits(changes):
		var etags []string
		if etags, err = t.commit(ctx, changes, c.old.required(1, len(changes))); err == nil {
			c.written(next, etags)
		}
	case c.merge || c.layout.plain:
		return nil, tooLarge(c.content)
	default:
		err = t.stage(ctx, c, next)
	}
	var f *wire.BatchFailure
	switch {
	case !errors.As(err, &f):
	case c.old.plain() && (f.Index > 0 && errors.Is(err, azerr.ErrNotFound) || errors.Is(err, azerr.ErrExists)):
		return nil, fmt.Errorf("row %d of the transaction was changed meanwhile: %w", f.Index, azerr.ErrConflict)
	case c.layout.plain && errors.Is(err, azerr.ErrExists):
		return nil, fmt.Errorf("row %d of the transaction: %w", f.Index, azerr.ErrExists)
	case f.Index < 1:
	case errors.Is(err, azerr.ErrNotFound):
		return nil, fmt.Errorf("%w: row %d of the transaction is missing", ErrTorn, f.Index)
	case errors.Is(err, azerr.ErrExists):
		return nil, fmt.Errorf("%w: row %d of the transaction", ErrForeignRow, f.Index)
	}
	return next, err
}

// written stores the ETags of the rows that direct's transaction wrote in next. If only
// that of the head is known, another program may have changed the other rows since.
func (c *rowChanges) written(next *head, etags []string) {
	next.etag = etags[0]
	for n, i := range c.write {
		p := next.parts[i]
		switch {
		case !c.layout.plain:
			continue
		case len(etags) > 1:
			p.etag = etags[1+n]
		default:
			p.etag = txn.SupersededETag
		}
		next.parts[i] = p
	}
}

// required is the number of changes of h that a transaction of n must apply. Those of a
// plain entity are all conditional.
func (h *head) required(least, n int) int {
	if h.plain() {
		return n
	}
	return least
}

// direct returns the transaction that makes next of c.old: the head's change first.
func (c *rowChanges) direct(next *head) ([]txn.Change, error) {
	changes := make([]txn.Change, 1, 1+len(c.write)+len(c.remove))
	var moved []txn.Change
	var err error
	if changes[0], err = next.over(c.rows, c.old); err != nil {
		return nil, err
	}
	for _, i := range c.write {
		w, err := c.partWrite(i, next)
		if err != nil {
			return nil, err
		}
		switch p, exists := c.old.part(i); {
		case exists && c.merge:
			w.Kind, w.ETag = wire.Merge, p.condition()
		case exists && p.staged != next.parts[i].staged: // what was staged is inserted in place
			moved = append(moved, txn.Change{Write: txn.Delete(c.rows.part(i, p.staged), "*")})
		case exists && p.etag != "":
			w.Kind, w.ETag = wire.Replace, p.etag
		case exists: // the row may be missing; then the entity is torn, and this repairs it
			w.Kind = wire.InsertOrReplace
		}
		changes = append(changes, txn.Change{Write: w})
	}
	for _, i := range c.remove {
		p, _ := c.old.part(i)
		changes = append(changes, txn.Change{Write: txn.Delete(c.rows.part(i, p.staged), p.condition())})
	}
	return append(changes, moved...), nil
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
func (c *rowChanges) partWrite(i int, next *head) (wire.Write, error) {
	key := c.rows.part(i, next.parts[i].staged)
	w := wire.Write{Kind: wire.Insert, PartitionKey: key.Partition, RowKey: key.Row}
	note := ""
	if !c.layout.plain {
		note = next.note(c.layout, i)
	}
	room := len(c.content.Members(i)) + 2*len(note) + len(w.PartitionKey) + len(w.RowKey) + 128
	var err error
	w.Body, err = c.content.AppendRow(make([]byte, 0, room), i, w.PartitionKey, w.RowKey, note)
	return w, err
}
