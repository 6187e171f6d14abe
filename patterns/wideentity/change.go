package wideentity

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns"
)

// change is what one call does to the rows of an entity.
type change struct {
	rows    entityRows
	old     *head // nil: the entity must not exist
	layout  layout
	content *edm.SplitEntity
	splits  map[string]int // of the entity afterwards
	write   []int          // parts that get content
	remove  []int          // parts that are left without any
	merge   bool           // content is merged into the parts
}

// part is what the head tells of part i; a nil head has none.
func (h *head) part(i int) (p part, ok bool) {
	if h != nil {
		p, ok = h.parts[i]
	}
	return p, ok
}

// apply carries out c, in one transaction where that is within its limits, and gives
// the head that it made. Errors of content come before any request.
func (t *Table[T]) apply(ctx context.Context, c *change) (*head, error) {
	next := c.old.next(newVersion(), c.layout.name)
	next.splits = c.splits
	for _, i := range c.remove {
		delete(next.parts, i)
	}
	for _, i := range c.write {
		p, _ := c.old.part(i)
		next.parts[i] = part{next.version(), p.staged}
	}
	headWrite, err := next.headWrite(c.rows, c.old)
	if err != nil {
		return nil, err
	}
	writes := make([]*wire.Write, 1, 1+len(c.write)+len(c.remove))
	writes[0] = headWrite
	for _, i := range c.write {
		w, err := c.partWrite(i, next)
		if err != nil {
			return nil, err
		}
		if _, exists := c.old.part(i); exists && c.merge {
			w.Kind, w.ETag = wire.Merge, "*"
		}
		writes = append(writes, w)
	}
	for _, i := range c.remove {
		p, _ := c.old.part(i)
		writes = append(writes, deleteWrite(c.rows, c.rows.part(i, p.staged), "*"))
	}
	switch {
	case t.fits(writes):
		err = t.commit(ctx, c.rows, writes, 1, c.old, next)
	case c.merge:
		return nil, tooLargeMerge(c.content)
	default:
		err = t.stage(ctx, c, next)
	}
	var f *wire.BatchFailure
	if errors.As(err, &f) && f.Index > 0 && errors.Is(err, patterns.ErrNotFound) {
		return nil, fmt.Errorf("%w: row %d of them is missing", ErrTorn, f.Index)
	}
	return next, err
}

// partWrite is the row of part i under the head next.
func (c *change) partWrite(i int, next *head) (*wire.Write, error) {
	w := &wire.Write{Kind: wire.InsertOrReplace, PartitionKey: c.rows.partition, RowKey: c.rows.part(i, next.parts[i].staged)}
	note := next.note(c.layout, i)
	room := len(c.content.Members(i)) + 2*len(note) + len(w.PartitionKey) + len(w.RowKey) + 128
	var err error
	w.Body, err = c.content.AppendRow(make([]byte, 0, room), i, w.PartitionKey, w.RowKey, note)
	return w, err
}
