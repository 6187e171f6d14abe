package wideentity

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns"
)

// A change too large for one transaction is staged: its rows are put beside those
// that they replace, in as many transactions as it takes; then one transaction makes
// the head point to them; then the rows that it pointed to before are deleted.
//
// The first transaction also inserts a marker, and the one of the head deletes it,
// under its ETag. While the marker stands, the staged rows are somebody's work under
// way. Who takes it away to sweep them keeps the head from ever pointing to them.
// So a staged row without a marker to which no head points is rubbish for good.
//
// The transaction of the head also deletes the rows in place that are replaced. So a
// row in place is always current, and reading it needs no head.

// stage carries out a change in this way and fills in next's ETag.
func (t *Table[T]) stage(ctx context.Context, c *change, next *head) error {
	staged := next.version()
	puts := []*wire.Write{c.rows.markerWrite(staged)}
	for _, i := range c.write {
		next.parts[i] = part{staged, staged}
		w, err := c.partWrite(i, next)
		if err != nil {
			return err
		}
		puts = append(puts, w)
	}
	headWrite, err := next.headWrite(c.rows, c.old)
	if err != nil {
		return err
	}
	flip, replaced := []*wire.Write{headWrite, nil}, []*wire.Write(nil)
	for _, parts := range [][]int{c.write, c.remove} {
		for _, i := range parts {
			switch p, ok := c.old.part(i); {
			case ok && p.staged == "":
				flip = append(flip, deleteWrite(c.rows, c.rows.part(i, ""), "*"))
			case ok:
				replaced = append(replaced, deleteWrite(c.rows, c.rows.part(i, p.staged), "*"))
			}
		}
	}
	marker, err := t.putStaged(ctx, puts)
	if err == nil {
		flip[1] = deleteWrite(c.rows, c.rows.marker(staged), marker)
		err = t.commit(ctx, c.rows, flip, 2, c.old, next)
	}
	if err != nil {
		if !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.discard(ctx, c.rows, puts)
		}
		return swept(err)
	}
	// The change is made. What cannot be cleared away now is left to Sweep.
	_, _ = t.send(ctx, replaced, 0)
	return nil
}

// putStaged writes rows that no head points to yet, behind their marker, and gives
// the marker's ETag.
func (t *Table[T]) putStaged(ctx context.Context, puts []*wire.Write) (marker string, err error) {
	for from := 0; from < len(puts); {
		to := from + 1
		for to < len(puts) && t.fits(puts[from:to+1]) {
			to++
		}
		etags, err := t.wire.Batch(ctx, puts[from:to])
		switch {
		case err == nil && from == 0:
			marker = etags[0]
		case from == 0 && unsure(err):
			// Nobody else knows the marker's key: if it is there it is ours, with the rows.
			if marker, err = t.etagOf(ctx, puts[0]); err != nil {
				return "", err
			}
		case err != nil:
			return "", err
		}
		from = to
	}
	return marker, nil
}

func unsure(err error) bool {
	var e *azerr.Error
	return errors.As(err, &e) && e.Unsure
}

func (t *Table[T]) etagOf(ctx context.Context, w *wire.Write) (etag string, err error) {
	err = t.wire.Get(ctx, w.PartitionKey, w.RowKey, func(header string, body []byte) error {
		etag = header
		if etag == "" {
			var g edm.StoredRows
			if err := g.AddEntity("", body); err != nil {
				return err
			}
			etag = g.Rows[0].ETag
		}
		return nil
	})
	return etag, err
}

// markerWrite inserts the marker of a staged write.
func (e entityRows) markerWrite(staged string) *wire.Write {
	row := e.marker(staged)
	body, _ := edm.AppendProperties(nil, nil, edm.Envelope{PartitionKey: e.partition, RowKey: row}) // nothing in it can fail
	return &wire.Write{Kind: wire.Insert, PartitionKey: e.partition, RowKey: row, Body: body}
}

// discard clears away the rows of a staged write that has failed, as far as it gets.
func (t *Table[T]) discard(ctx context.Context, rows entityRows, puts []*wire.Write) {
	deletes := make([]*wire.Write, len(puts))
	for i, w := range puts {
		deletes[i] = deleteWrite(rows, w.RowKey, "*")
	}
	_, _ = t.send(ctx, deletes, 0)
}

// swept turns the loss of the marker into the conflict that it is.
func swept(err error) error {
	var f *wire.BatchFailure
	if errors.As(err, &f) && f.Index == 1 && (errors.Is(err, patterns.ErrNotFound) || errors.Is(err, patterns.ErrConflict)) {
		return fmt.Errorf("the rows written so far were swept: %w", patterns.ErrConflict)
	}
	return err
}
