package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Mend makes what stands at the places agree with what the primary implies now: rows
// it implies are written, rows of its that it does not, or no longer, are removed. A
// place where all is well is left alone, and so is what belongs to another primary,
// which is a [*DuplicateError] where the primary wants the place. It is for rows that
// someone who writes past the Store, or a lost row of the outbox, has left behind;
// what an operation is about to do it only brings forward.
//
// Rows in the primary's partition take two reads, and one transaction where something
// is to be written; it merges nothing into the primary, which gives
// that a new ETag. Other rows go through the outbox like those of any operation. What
// is merged into rows of the primary's partition cannot be told from one primary
// alone: such a place is refused with [ErrBadView].
func (s *Store[T]) Mend(ctx context.Context, primary keys.Key, places ...Place) error {
	var remote []Place
	for _, p := range places {
		l, err := s.lens(p.View)
		if err != nil {
			return fmt.Errorf("mend: %w", err)
		}
		if l.foreign() || p.Partition != primary.Partition {
			remote = append(remote, p)
			continue
		}
		if l.shape.Kind == Merges {
			return fmt.Errorf("mend: %w", badView(p.View, "what is merged within the partition follows from all primaries"))
		}
		if err := s.mendLocal(ctx, primary, l, p.Key()); err != nil {
			return fmt.Errorf("mend: %w", err)
		}
	}
	if len(remote) == 0 {
		return nil
	}
	if err := s.mendRemote(ctx, primary, remote); err != nil {
		return fmt.Errorf("mend: %w", err)
	}
	return nil
}

// mendRemote drains places as an operation would that has changed nothing.
func (s *Store[T]) mendRemote(ctx context.Context, primary keys.Key, places []Place) error {
	if s.opts.Outbox == nil {
		return badView(places[0].View, "it leaves the primary's partition: StoreOptions.Outbox is needed")
	}
	row, err := pendingRow(primary.Row, places)
	if err != nil {
		return err
	}
	id := newID()
	receipt, err := s.opts.Outbox.Put(ctx, Wakeup{Partition: primary.Partition, ID: id}, s.opts.Grace)
	if err != nil {
		return fmt.Errorf("wake-up: %w", err)
	}
	entry, err := s.outbox.Do(ctx, InsertOp(row).At(outboxKey(primary.Partition, id)))
	if err != nil {
		return err
	}
	if err := s.drain(ctx, &drain[T]{primary: primary, op: id, places: places}); err != nil {
		return err
	}
	s.finish(ctx, primary.Partition, id, string(entry.ETag), receipt)
	return nil
}

// mendLocal looks at one row until nobody interferes.
func (s *Store[T]) mendLocal(ctx context.Context, primary keys.Key, l *lens, key keys.Key) error {
	for try := 1; ; try++ {
		writes, err := s.mendWrites(ctx, primary, l, key)
		if err == nil {
			err = s.own.send(ctx, writes)
		}
		if !errors.Is(err, errRaced) || try >= s.opts.Tries {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// mendWrites is the transaction that puts the row right: none if it is. With the row
// the primary is written, on condition that it is the version looked at, so that the
// row follows from the version that stands then. Where there is no primary, one that is
// inserted meanwhile writes the row itself, and the condition on the row fails.
func (s *Store[T]) mendWrites(ctx context.Context, primary keys.Key, l *lens, key keys.Key) ([]*wire.Write, error) {
	found, err := readRow(ctx, s.table.wire, key)
	if err != nil {
		return nil, err
	}
	item, err := s.find(ctx, primary)
	if err != nil {
		return nil, err
	}
	var rows []derived
	if item != nil {
		if rows, err = s.views.derive(&item.Value, primary); err != nil {
			return nil, err
		}
	}
	p := localRow{key: key, diffs: []difference{{lens: l, key: key, mend: true}}}
	for i := range rows {
		if rows[i].lens == l && rows[i].key() == key {
			p.diffs[0].new = &rows[i]
		}
	}
	w, act, err := p.write(primary, found, nil)
	var taken *takenError
	if errors.As(err, &taken) {
		return nil, &DuplicateError{l.name, key}
	}
	if err != nil || !act {
		return nil, err
	}
	if item == nil {
		return []*wire.Write{&w}, nil
	}
	nothing, err := edm.AppendProperties(nil, nil, edm.Envelope{PartitionKey: primary.Partition, RowKey: primary.Row})
	touch := wire.Write{Kind: wire.Merge, PartitionKey: primary.Partition, RowKey: primary.Row, Body: nothing, ETag: string(item.ETag)}
	return []*wire.Write{&touch, &w}, err
}
