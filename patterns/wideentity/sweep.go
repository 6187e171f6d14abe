package wideentity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Sweep deletes what staged writes left behind whose process died: of the entity at
// key, or, where key.Row is "", of all entities of the partition. No reader ever sees
// such rows; they take up room. A write that is still under way after older, by this machine's
// clock, is taken for abandoned; should it go on all the same, it fails with
// [patterns.ErrConflict] and nothing is harmed. Zero or less means an hour. Sweep
// gives the number of rows that it deleted.
//
// One request for each 1,000 rows, keys only; for each entity with rows to delete, one
// for its head, one for each write under way for too long, and one for each 100 rows.
// It may run at any time and more than once at a time. Cosmos DB for Table gives no
// order, which this relies on: [patterns.ErrUnordered].
func (t *Table[T]) Sweep(ctx context.Context, key keys.Key, older time.Duration) (deleted int, err error) {
	if older <= 0 {
		older = time.Hour
	}
	f := query.PartitionKey.Eq(key.Partition)
	err = keys.Check("PartitionKey", key.Partition)
	if err == nil && key.Row != "" {
		var rows entityRows
		if rows, err = rowsOf(key); err == nil {
			f = rows.all()
		}
	}
	if err == nil {
		err = t.eachEntity(ctx, key.Partition, f, func(rows entityRows, found []strayRow) error {
			n, err := t.sweep(ctx, rows, found, older)
			deleted += n
			return err
		})
	}
	if err != nil {
		return deleted, fmt.Errorf("sweep: %w", err)
	}
	return deleted, nil
}

// strayRow is a row that may have been left behind: a staged one, or a marker.
type strayRow struct {
	edm.StoredRow
	rowKind
}

// eachEntity calls sweep with the staged rows and markers of one entity at a time.
func (t *Table[T]) eachEntity(ctx context.Context, partition string, f query.Filter, sweep func(entityRows, []strayRow) error) error {
	var base string
	var found []strayRow
	flush := func() (err error) {
		if len(found) > 0 {
			err = sweep(entityRows{partition, base}, found)
		}
		found = nil
		return err
	}
	q := wire.Query{Filter: f.String(), Select: "RowKey,Timestamp"}
	for {
		var g edm.StoredRows
		next, err := t.wire.Query(ctx, q, func(body []byte) error {
			g = edm.StoredRows{} // this may be a second try
			return g.AddPage(body)
		})
		if err != nil {
			return err
		}
		if a, ok := t.wire.Address(); ok && a.Cosmos() {
			return patterns.ErrUnordered
		}
		for _, r := range g.Rows {
			at := strings.Index(r.RowKey, separator) + 1
			k, ok := kindOf(r.RowKey[at:])
			if at == 0 || !ok || k.staged == "" {
				continue
			}
			if r.RowKey[:at] != base {
				if err := flush(); err != nil {
					return err
				}
				base = r.RowKey[:at]
			}
			found = append(found, strayRow{r, k})
		}
		if next == (wire.Position{}) {
			return flush()
		}
		q.Next = next
	}
}

// sweep deletes those of an entity's staged rows that nobody will ever point to. found
// was listed in the order of keys, so each row was seen before its marker was, or was
// not. The head is read after both.
func (t *Table[T]) sweep(ctx context.Context, rows entityRows, found []strayRow, older time.Duration) (deleted int, err error) {
	underWay := map[string]bool{}
	for _, r := range found {
		if !r.marker {
			continue
		}
		underWay[r.staged] = true
		if time.Since(r.Timestamp) > older {
			// From here on the head cannot come to point to these rows.
			_, err := t.wire.Write(ctx, *deleteWrite(rows, r.RowKey, r.ETag))
			if err != nil && !errors.Is(err, patterns.ErrNotFound) {
				return deleted, err
			}
			underWay[r.staged] = false
			deleted++
		}
	}
	found = slices.DeleteFunc(found, func(r strayRow) bool { return r.marker || underWay[r.staged] })
	if len(found) == 0 {
		return deleted, nil
	}
	h, err := t.readHead(ctx, rows)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		return deleted, err
	}
	var writes []*wire.Write
	for _, r := range found {
		if p, ok := h.part(r.part); !ok || p.staged != r.staged {
			writes = append(writes, deleteWrite(rows, r.RowKey, "*"))
		}
	}
	for some := range slices.Chunk(writes, wire.MaxBatchOps) {
		if _, err := t.send(ctx, some, 0); err != nil {
			return deleted, err
		}
		deleted += len(some)
	}
	return deleted, nil
}
