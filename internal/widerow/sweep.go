package widerow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

const defaultOlderThan = time.Hour

// SweepOptions are the options of a sweep. Package wideentity documents them.
type SweepOptions struct {
	Partitions []string
	Entities   []keys.Key
	OlderThan  time.Duration
}

// SweepReport counts what a sweep found and did.
type SweepReport struct {
	Young   int
	Deleted int
}

// Sweep deletes the rows of staged writes that were abandoned.
func (t *Table) Sweep(ctx context.Context, o SweepOptions) (SweepReport, error) {
	if t == nil {
		return SweepReport{}, errNoTable
	}
	s := &sweep{table: t, olderThan: o.OlderThan}
	if s.olderThan <= 0 {
		s.olderThan = defaultOlderThan
	}
	filters, err := t.swept(o)
	if err != nil {
		return SweepReport{}, err
	}
	for _, f := range filters {
		if err := s.run(ctx, f); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

// swept returns the filters of the rows that a sweep reads, each a range of keys.
func (t *Table) swept(o SweepOptions) ([]query.Filter, error) {
	var filters []query.Filter
	for _, p := range o.Partitions {
		if err := keys.Check("PartitionKey", p); err != nil {
			return nil, err
		}
		filters = append(filters, query.PartitionKey.Eq(p))
	}
	for _, key := range o.Entities {
		rows, err := t.rowsOf(key)
		if err != nil {
			return nil, err
		}
		filters = append(filters, rows.all())
	}
	if o.Partitions == nil && o.Entities == nil {
		filters = append(filters, query.Filter{})
	}
	return filters, nil
}

type sweep struct {
	table     *Table
	olderThan time.Duration
	report    SweepReport
}

// stagedRow is a staged part, or a marker.
type stagedRow struct {
	rowKind
	key       keys.Key
	etag      string
	timestamp time.Time
}

// run sweeps the entities whose rows f matches, one at a time.
func (s *sweep) run(ctx context.Context, f query.Filter) error {
	var rows entityRows // of the entity that found belongs to
	var found []stagedRow
	opts := &fetch.Options{Select: []string{}, Allow: query.TableScan, Ordered: true}
	for row, err := range fetch.Properties(ctx, s.table.Client, f, opts) {
		if err != nil {
			return err
		}
		at := strings.Index(row.Key.Row, separator) + 1
		k, ok := kindOf(row.Key.Row[at:])
		if at == 0 || !ok || k.staged == "" {
			continue
		}
		if own := (entityRows{row.Key.Partition, row.Key.Row[:at]}); own != rows {
			if err := s.entity(ctx, rows, found); err != nil {
				return err
			}
			rows, found = own, nil
		}
		found = append(found, stagedRow{k, row.Key, row.ETag, row.Timestamp})
	}
	return s.entity(ctx, rows, found)
}

// entity deletes those of an entity's staged rows to which no head will ever point. The
// rows were listed in key order, so a part was listed before its marker could be. The head
// is read after both.
func (s *sweep) entity(ctx context.Context, rows entityRows, found []stagedRow) error {
	inProgress := map[string]bool{}
	for _, r := range found {
		if !r.marker {
			continue
		}
		if inProgress[r.staged] = s.table.Age(r.timestamp) <= s.olderThan; inProgress[r.staged] {
			s.report.Young++
			continue
		}
		// Without the marker, no head can begin to point to the staged rows.
		_, err := txn.Send(ctx, s.table.Client, txn.Change{Write: txn.Delete(r.key, r.etag), IfExists: true})
		switch {
		case errors.Is(err, azerr.ErrConflict): // deleted by another sweep, and inserted again by a late request
			inProgress[r.staged] = true
			s.report.Young++
		case err != nil && !errors.Is(err, azerr.ErrNotFound):
			return err
		default:
			s.report.Deleted++
		}
	}
	found = slices.DeleteFunc(found, func(r stagedRow) bool {
		if inProgress[r.staged] && !r.marker {
			s.report.Young++
		}
		return r.marker || inProgress[r.staged]
	})
	if len(found) == 0 {
		return nil
	}
	h, err := s.table.readHead(ctx, rows)
	if err != nil && !errors.Is(err, azerr.ErrNotFound) {
		return err
	}
	var deletes []txn.Change
	for _, r := range found {
		if p, ok := h.part(r.part); !ok || p.staged != r.staged {
			// Under its ETag: the request may be late, and until then another sweep may
			// delete the row, and the write that is in progress insert it again.
			deletes = append(deletes, txn.Change{Write: txn.Delete(r.key, r.etag)})
		}
	}
	for some := range slices.Chunk(deletes, wire.MaxBatchOps) {
		if _, err := s.table.send(ctx, some, 0); err != nil {
			return err
		}
		s.report.Deleted += len(some)
	}
	return nil
}
