package widerow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

const defaultOlderThan = time.Hour

// Sweep deletes the rows of staged writes that were abandoned. A step is what is done for an
// entity, or to read a page.
func (t *Table) Sweep(ctx context.Context, opts *types.SweepOptions) (types.SweepReport, error) {
	if t == nil {
		return types.SweepReport{}, errNoTable
	}
	ctx, run, err := sweep.Begin(ctx, "wide", opts, defaultOlderThan)
	s := &sweeper{Run: run, table: t}
	if err == nil {
		err = s.run(ctx)
	}
	return s.Report(), err
}

type sweeper struct {
	*sweep.Run
	table *Table
	rows  entityRows  // of the entity that was read last
	found []stagedRow // of these
}

// address is that of the table, "" if it is not known yet.
func (s *sweeper) address() string {
	a, _ := s.table.Client.Address()
	return a.Base
}

// The position of a sweep is the entity that is next: its partition, a zero byte, which no key
// contains, and its base.
func (s *sweeper) at(rows entityRows) (over bool) {
	return s.At(s.address(), []byte(rows.partition+"\x00"+rows.base))
}

// stagedRow is a staged part, or a marker.
type stagedRow struct {
	rowKind
	key       keys.Key
	etag      string
	timestamp time.Time
}

// run sweeps the entities, one at a time.
func (s *sweeper) run(ctx context.Context) error {
	position, err := s.From(s.address())
	if err != nil {
		return err
	}
	var from entityRows
	from.partition, from.base, _ = strings.Cut(string(position), "\x00")
	ranges := s.ranges(from)
	for i, f := range ranges {
		for cursor := ""; ; {
			opts := &types.QueryOptions{Select: []string{}, Allow: query.TableScan, Ordered: true}
			page, next, err := fetch.PropertiesPage(ctx, s.table.Client, f, opts, cursor)
			if err == nil {
				_, err = s.From(s.address())
			}
			if err != nil {
				return err
			}
			for _, row := range page {
				if over, err := s.add(ctx, row); over || err != nil {
					return err
				}
			}
			if cursor = next; cursor == "" && i == len(ranges)-1 {
				break
			}
			if s.rows != (entityRows{}) && s.at(s.rows) {
				return nil
			}
			s.Tick()
			if cursor == "" {
				break
			}
		}
	}
	if err := s.entity(ctx, s.rows, s.found); err != nil {
		return err
	}
	s.Complete()
	return nil
}

// ranges returns the filters of the rows that the sweep reads, from those of an entity on, in
// the order of the keys.
func (s *sweeper) ranges(from entityRows) (all []query.Filter) {
	rest := query.And(query.PartitionKey.Eq(from.partition), query.RowKey.Ge(from.base))
	switch {
	case s.Partitions == nil && from == (entityRows{}):
		return []query.Filter{{}}
	case s.Partitions == nil:
		return []query.Filter{rest, query.PartitionKey.Gt(from.partition)}
	}
	for _, p := range s.Partitions {
		switch keys.Compare(p, from.partition) {
		case 0:
			all = append(all, rest)
		case 1:
			all = append(all, query.PartitionKey.Eq(p))
		}
	}
	return all
}

// add processes the entity before that of the row, if it is complete, and adds the row to its
// own. over reports whether the sweep must stop.
func (s *sweeper) add(ctx context.Context, row fetch.Entry) (over bool, err error) {
	at := strings.Index(row.Key.Row, separator) + 1
	own := entityRows{row.Key.Partition, row.Key.Row[:at]}
	if at == 0 {
		own.base = row.Key.Row // of another program
	}
	if own != s.rows {
		if len(s.found) > 0 {
			if s.at(s.rows) {
				return true, nil
			}
			if err := s.entity(ctx, s.rows, s.found); err != nil {
				return false, err
			}
		}
		s.rows, s.found = own, nil
	}
	if k, ok := kindOf(row.Key.Row[at:]); at > 0 && ok && k.staged != "" {
		s.found = append(s.found, stagedRow{k, row.Key, row.ETag, row.Timestamp})
	}
	return false, nil
}

// entity deletes those of an entity's staged rows to which no head will ever point. The
// rows were listed in key order, so a part was listed before its marker could be. The head
// is read after both.
func (s *sweeper) entity(ctx context.Context, rows entityRows, found []stagedRow) error {
	done, skipped := 0, 0
	defer func() {
		if done+skipped > 0 {
			s.Count(func(r *types.SweepReport) { r.Found += done + skipped; r.Done += done; r.Skipped += skipped })
		}
	}()
	inProgress := map[string]bool{}
	for _, r := range found {
		if !r.marker {
			continue
		}
		if inProgress[r.staged] = s.table.Age(r.timestamp) <= s.OlderThan; inProgress[r.staged] {
			skipped++
			continue
		}
		var err error
		if !s.DryRun { // without the marker, no head can begin to point to the staged rows
			_, err = txn.Send(ctx, s.table.Client, txn.Change{Write: txn.Delete(r.key, r.etag), IfExists: true})
		}
		switch {
		case errors.Is(err, azerr.ErrConflict): // deleted by another sweep, and inserted again by a late request
			inProgress[r.staged] = true
			skipped++
		case err != nil && !errors.Is(err, azerr.ErrNotFound):
			return err
		default:
			done++
		}
	}
	found = slices.DeleteFunc(found, func(r stagedRow) bool {
		if inProgress[r.staged] && !r.marker {
			skipped++
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
		if !s.DryRun {
			if _, err := s.table.send(ctx, some, 0); err != nil {
				return err
			}
		}
		done += len(some)
	}
	return nil
}
