package widerow

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// stage carries out a change that is too large for one transaction, and sets next's ETag.
func (t *Table) stage(ctx context.Context, c *rowChanges, next *head) error {
	staged := next.version()
	// No other change inserts rows with these keys, so a row that is stored is proof.
	inserts := []txn.Change{{Write: insertEmpty(c.rows.marker(staged)), Repeatable: true}}
	for _, i := range c.write {
		next.parts[i] = entityPart{version: staged, staged: staged}
		w, err := c.partWrite(i, next)
		if err != nil {
			return err
		}
		inserts = append(inserts, txn.Change{Write: w, Repeatable: true})
	}
	headChange, err := next.over(c.rows, c.old)
	if err != nil {
		return err
	}
	flip, replaced := []txn.Change{headChange, {}}, []txn.Change(nil)
	for _, parts := range [][]int{c.write, c.remove} {
		for _, i := range parts {
			p, ok := c.old.part(i)
			d := txn.Change{Write: txn.Delete(c.rows.part(i, p.staged), p.condition())}
			switch {
			case ok && p.staged == "":
				flip = append(flip, d)
			case ok:
				replaced = append(replaced, d)
			}
		}
	}
	marker, err := t.insertStaged(ctx, inserts)
	if err == nil {
		flip[1].Write = txn.Delete(c.rows.marker(staged), marker)
		var etags []string
		if etags, err = t.commit(ctx, flip, c.old.required(2, len(flip))); err == nil {
			next.etag = etags[0]
		}
	}
	if err != nil {
		if !errors.Is(err, azerr.ErrOutcomeUnknown) {
			t.discard(ctx, inserts)
		}
		return markerLost(err)
	}
	// The change is applied. What cannot be deleted now is left to Sweep.
	_, _ = t.send(ctx, replaced, 0)
	return nil
}

// insertStaged inserts rows to which no head points yet, after their marker, and returns
// the marker's ETag.
func (t *Table) insertStaged(ctx context.Context, inserts []txn.Change) (marker string, err error) {
	for from := 0; from < len(inserts); {
		to := from + 1
		for to < len(inserts) && t.fits(inserts[from:to+1]) {
			to++
		}
		first, err := t.commit(ctx, inserts[from:to], to-from)
		if errors.Is(err, azerr.ErrOutcomeUnknown) {
			err = notApplied(err)
		}
		if err != nil {
			return "", err
		}
		if from == 0 {
			marker = first[0]
		}
		from = to
	}
	return marker, nil
}

// notApplied returns the cause of an unknown outcome of a transaction of staged rows. The
// outcome of the whole write is known: no head points to the rows, so it changes nothing.
func notApplied(err error) error {
	var e *types.Error
	if !errors.As(err, &e) {
		return err
	}
	certain := *e
	certain.Unsure, certain.Unanswered = false, false
	return &certain
}

// insertEmpty returns the insert of a row without properties.
func insertEmpty(key keys.Key) wire.Write {
	body, _ := edm.AppendProperties(nil, nil, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row}) // has nothing that can fail
	return txn.Over(key, txn.Row{}, body)
}

// discard deletes the rows of a staged write that has failed. What it cannot delete is
// left to Sweep.
func (t *Table) discard(ctx context.Context, inserts []txn.Change) {
	deletes := make([]txn.Change, len(inserts))
	for i := range inserts {
		deletes[i].Write = txn.Delete(inserts[i].Key(), "*")
	}
	_, _ = t.send(ctx, deletes, 0)
}

// markerLost returns a conflict if err is the failure to delete the marker.
func markerLost(err error) error {
	var f *wire.BatchFailure
	if errors.As(err, &f) && f.Index == 1 && (errors.Is(err, azerr.ErrNotFound) || errors.Is(err, azerr.ErrConflict)) {
		return fmt.Errorf("a sweep has deleted the rows written so far: %w", azerr.ErrConflict)
	}
	return err
}
