package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/attempts"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/servicetime"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Repair rewrites the rows derived from the entity at key: the named ones, or all of
// them if none is named. Package patterns documents it.
func (s *Store) Repair(ctx context.Context, key keys.Key, refs ...view.RowRef) error {
	err := errStale
	if len(refs) > 0 {
		err = s.repairRows(ctx, key, refs)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, errStale) {
		return fmt.Errorf("repair: %w", err)
	}
	_, err = s.Run(ctx, &Intent{Op: "repair", Key: key, Reread: true, Repeatable: true, Repair: true, Next: func(was *txn.Record) (any, error) {
		if was == nil {
			return nil, fmt.Errorf("repair: %w", azerr.ErrNotFound)
		}
		return was.Value, nil
	}})
	return err
}

// errStale means that the primary does not list the view of a row to repair, so a program
// without the view may change the primary. Repair all rows, which stores a new listing.
var errStale = azerr.Sentinel("the primary does not list the view")

func (s *Store) repairRows(ctx context.Context, primary keys.Key, refs []view.RowRef) error {
	var remote []view.RowRef
	for _, ref := range refs {
		v, err := s.Views.View(ref.View)
		if err != nil {
			return err
		}
		if v.Foreign() || ref.Partition != primary.Partition {
			remote = append(remote, ref)
			continue
		}
		if v.Shape.Kind == view.Merges {
			return view.BadView(ref.View, "what is merged within the partition follows from all primaries")
		}
		if err := s.repairLocal(ctx, primary, v, ref.Key()); err != nil {
			return err
		}
	}
	if len(remote) == 0 {
		return nil
	}
	return s.repairRemote(ctx, primary, remote)
}

// repairRemote drains rows as an operation would that has changed nothing.
func (s *Store) repairRemote(ctx context.Context, primary keys.Key, refs []view.RowRef) error {
	if s.Queue == nil {
		return view.NoOutbox(refs[0].View)
	}
	row, err := pendingRow(primary.Row, refs, s.Views.Listing())
	if err != nil {
		return err
	}
	id, began := txn.NewID(), time.Now()
	var late attempts.Unanswered
	ctx = attempts.Track(ctx, &late)
	receipt, err := s.Queue.Put(ctx, Message{Partition: primary.Partition, ID: id}, s.Grace)
	if err != nil {
		return fmt.Errorf("outbox message: %w", azerr.Seal(err))
	}
	if servicetime.Elapsed(began) >= s.limit() { // the process may have been suspended
		return errSlow
	}
	r, err := s.insertRecord(ctx, row, recordKey(primary.Partition, id))
	if err != nil {
		return err
	}
	d := &drain{primary: primary, op: id, refs: refs, began: began}
	if _, err := s.drain(ctx, d); err != nil {
		return err
	}
	if !late.Any() {
		s.finish(ctx, []outboxRef{{r.Key, r.ETag}}, receipt)
	}
	if d.stale {
		return errStale
	}
	return nil
}

// repairLocal repairs one row of the primary's partition, again if another client
// interferes.
func (s *Store) repairLocal(ctx context.Context, primary keys.Key, v *view.View, key keys.Key) error {
	for try := 1; ; try++ {
		found, err := txn.ReadRow(ctx, s.Table.Client, key)
		if err != nil {
			return err
		}
		entity, err := s.find(ctx, primary)
		if err != nil {
			return err
		}
		err = s.RepairLocal(ctx, primary, entity, LocalRow{v, key, found})
		if !errors.Is(err, view.ErrRaced) || try >= s.Tries {
			return err
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return err
		}
	}
}

// LocalRow is a row of the primary's partition, as it was read.
type LocalRow struct {
	View  *view.View
	Key   keys.Key
	Found txn.Row
}

// RepairLocal corrects rows of a primary that was read, nil if there is none, in one
// transaction. It fails with [view.ErrRaced] if any of them has changed since. One request,
// none if nothing is wrong.
//
// The transaction also touches the primary, on condition that it is the version that was
// read, so that the rows follow from the version that exists then. If there is no
// primary, one that is inserted meanwhile writes the rows itself, and the conditions on
// the rows fail.
func (s *Store) RepairLocal(ctx context.Context, primary keys.Key, entity *txn.Record, rows ...LocalRow) error {
	var listing view.Listing
	if entity != nil {
		listing = view.ListingOf(entity.Origin)
	}
	implied, err := s.Views.Before(listing).Derive(valueOf(entity), primary)
	if err != nil {
		return err
	}
	var writes []*wire.Write
	for _, row := range rows {
		if entity != nil {
			if err := s.Views.CheckView(listing, row.View.Name); err != nil {
				return err
			}
			if s.Views.Adds(row.View.Name, listing) {
				return errStale
			}
		}
		diff := view.Diff{Primary: primary, View: row.View, Key: row.Key, Repair: true}
		for i := range implied {
			if implied[i].View == row.View && implied[i].Key == row.Key {
				diff.New = &implied[i]
			}
		}
		local := view.LocalRow{Key: row.Key, Diffs: []view.Diff{diff}}
		w, changed, err := local.Write(row.Found)
		if errors.As(err, new(*view.OwnedByOther)) {
			return &view.DuplicateError{View: row.View.Name, Key: row.Key}
		}
		if err != nil {
			return err
		}
		if changed {
			writes = append(writes, &w)
		}
	}
	if entity != nil && len(writes) > 0 {
		nothing, err := edm.AppendProperties(nil, nil, edm.Envelope{PartitionKey: primary.Partition, RowKey: primary.Row})
		if err != nil {
			return err
		}
		touch := wire.Write{Kind: wire.Merge, PartitionKey: primary.Partition, RowKey: primary.Row, Body: nothing, ETag: entity.ETag}
		writes = append(writes, &touch)
	}
	return s.own.Send(ctx, writes)
}
