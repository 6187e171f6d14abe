package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// planned is what an attempt found out about one primary, and what it is going to write.
type planned struct {
	was     *txn.Record
	seen    *txn.Record    // was, unless it has expired: then there are only its rows, except for a repair
	over    *txn.Record    // if there is no entity, but what views have merged into its row
	now     any            // the new version of the entity, nil to delete it
	rows    []view.Derived // of the new version
	remote  []view.Diff
	primary txn.Change
	origin  *txn.Origin // of the record that results
	views   *view.Set   // that have rows of the new version
}

// plan reads the primaries, if necessary, and derives the rows of both versions of each.
func (t *transaction) plan(ctx context.Context) error {
	var read []*operation
	last := make([]planned, len(t.ops)) // of the last attempt
	for i, op := range t.ops {
		last[i] = op.planned
		if op.Known && op.Spent != nil && op.Spent.Swap(true) {
			op.Was, op.Known = nil, false
		}
		op.planned, op.part = planned{was: cmp.Or(op.Was, op.former), seen: op.Was, over: op.met}, nil
		if strings.HasPrefix(op.Key.Row, view.ReservedRow) {
			return op.failed(fmt.Errorf("%s: %w: a row key begins with %q", op.Op, keys.ErrBadKey, view.ReservedRow))
		}
		if !op.Known {
			read = append(read, op)
		}
	}
	err := calls.Each(ctx, len(read), t.store.Parallel, func(ctx context.Context, i int) (err error) {
		op := read[i]
		if err := t.store.findLocal(ctx, op); err != nil {
			return op.failed(err)
		}
		if op.was, op.over, err = t.store.read(ctx, op.Key); errors.Is(err, azerr.ErrNotFound) {
			err = nil
		}
		if op.seen = op.was; op.was != nil && !op.Repair && !op.Fill && op.Rows == nil && t.store.expired(op.was.Value) {
			op.seen = nil
		}
		return op.failed(err)
	})
	if err != nil {
		return err
	}
	if t.journal != nil {
		applied, err := t.journal.Attempt(ctx, len(t.ops), t.recordedAt)
		if err != nil {
			return fmt.Errorf("%s: journal: %w", t.name(), err)
		}
		if applied {
			for i, op := range t.ops {
				op.planned = last[i]
			}
			return errRecorded
		}
	}
	t.changed = nil
	var local []view.Diff
	for _, op := range t.ops {
		diffs, err := t.derive(op)
		if err != nil {
			return op.failed(err)
		}
		switch {
		case op.seen != nil, op.was != nil && op.IfExists, op.now != nil:
			t.changed = append(t.changed, op)
		case !op.IfExists && op.Rows == nil:
			return op.failed(fmt.Errorf("%s: %w", op.Op, azerr.ErrNotFound))
		}
		if local == nil {
			local = diffs
		} else {
			local = append(local, diffs...)
		}
	}
	t.forgetShared()
	if t.local, err = view.LocalRows(local); err != nil {
		return t.failedDiff(err)
	}
	return t.checkTogether()
}

// forgetShared drops what was found of remote rows that several operations write: only the first
// of them meets what was found.
func (t *transaction) forgetShared() {
	seen := map[keys.Key]bool{}
	for _, op := range t.ops {
		for i := range op.remote {
			d := &op.remote[i]
			if seen[d.Key] {
				delete(op.Found, d.Ref(d.View))
			}
			seen[d.Key] = true
		}
	}
}

// derive fills in the plan of op and returns its local differences.
func (t *transaction) derive(op *operation) ([]view.Diff, error) {
	s := t.store
	var origin *txn.Origin
	if op.was != nil {
		origin = op.was.Origin
	}
	listing := view.ListingOf(origin)
	if err := s.Views.Check(listing); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	t.check = t.check || !listing.Certain()       // another definition may have made the rows
	if op.was == nil || op.was.ETag != op.since { // it may have given the row up
		op.apart = nil
	}
	op.views = s.Views.After(listing).Without(op.apart)
	old, err := s.Views.Before(listing).Without(op.apart).Derive(valueOf(op.was), op.Key, unknownOf(origin)) // before Next, which may change what was refers to
	if err = cmp.Or(err, t.lookups.before(op, s.Views.Before(listing))); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.Rows != nil {
		return s.repairs(op, old)
	}
	if op.seen == nil {
		origin = nil
	}
	if t.journal != nil {
		if err := t.journal.Before(&op.journal, op.recordedBy(), op.seen); err != nil {
			return nil, fmt.Errorf("%s: %w", op.Op, err)
		}
	}
	if op.now, err = op.Next(op.seen); err != nil {
		return nil, err
	}
	if op.over != nil && op.now != nil {
		if op.now, origin, err = s.Views.OverPart(op.now, op.over, s.Table.Zero); err != nil {
			return nil, fmt.Errorf("%s: %w", op.Op, err)
		}
	}
	if err = t.record(op); err == nil {
		err = op.encode(s, t.lookups, t.journal, origin)
	}
	if err == nil && t.journal != nil {
		err = t.journal.After(&op.journal, op.primary.Body)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.rows, err = op.views.Derive(op.now, op.Key, unknownOf(op.origin)); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.Fill {
		old = slices.DeleteFunc(old, func(d view.Derived) bool { return !listing.Has(d.View.Name) })
	}
	local, remote := view.Differences(op.Key, old, op.rows, listing.Has, op.Repair)
	if op.Fill {
		for _, diffs := range [][]view.Diff{local, remote} {
			for i := range diffs {
				diffs[i].Unlisted = diffs[i].Old == nil
			}
		}
	}
	op.remote = remote
	if len(remote) > 0 && s.Queue == nil {
		return nil, fmt.Errorf("%s: %w", op.Op, view.NoOutbox(remote[0].View.Name))
	}
	return local, nil
}

// errRecorded means that the journal shows that the last attempt was applied, whose outcome was not known.
var errRecorded = errors.New("applied")

// recordedAt is for [journal.Transaction.Attempt].
func (t *transaction) recordedAt(i int) (r *journal.Recording, entity keys.Key, was *txn.Record) {
	op := t.ops[i]
	return &op.journal, op.Key, op.was
}

// recordedBy returns the view that records what op does, nil for none. Repairs do not change entities.
func (op *operation) recordedBy() *view.View {
	if op.Rows != nil || op.Repair || op.Fill {
		return nil
	}
	return op.views.Journal()
}

// record records what op does. An entity that has expired is deleted only; otherwise there is none.
func (t *transaction) record(op *operation) error {
	if t.journal == nil {
		return nil
	}
	was := op.seen
	if op.now == nil {
		was = op.was
	}
	return t.journal.Record(&op.journal, op.Key, op.was, was, op.now, was != nil && t.store.expired(was.Value))
}

// notTogether is the error of an operation that cannot be in one transaction with another
// operation of it. One after the other they may succeed.
type notTogether struct{ err error }

func (e *notTogether) Error() string { return e.err.Error() }
func (e *notTogether) Unwrap() error { return e.err }

// checkTogether fails if an operation cannot be in one transaction with another: it changes
// the row of the other's entity, both imply the same remote copy, or it needs a unique
// remote copy that the other releases, which cannot be reserved before that.
func (t *transaction) checkTogether() error {
	if len(t.ops) == 1 {
		return nil
	}
	for i := range t.local {
		d := &t.local[i].Diffs[0]
		if t.of(d.Key) != nil {
			return t.of(d.Primary).failed(&notTogether{&types.ViewError{View: d.View.Name,
				Err: fmt.Errorf("it changes the row of another entity of the transaction: %w", azerr.ErrDuplicateRow)}})
		}
	}
	type address struct {
		target string
		key    keys.Key
	}
	seen := map[address][]*view.Diff{}
	for _, op := range t.changed {
		for i := range op.remote {
			d := &op.remote[i]
			at := address{d.View.TargetID(), d.Key}
			for _, o := range seen[at] {
				err := &types.DuplicateError{View: d.View.Name, Key: d.Key}
				switch {
				case d.View.Shape.Kind != types.Copies || o.View.Shape.Kind != types.Copies || o.Primary == d.Primary:
				case o.New != nil && d.New != nil:
					return op.failed(err)
				case o.Unique() || d.Unique():
					return op.failed(&notTogether{err})
				}
			}
			seen[at] = append(seen[at], d)
		}
	}
	return nil
}

// encode makes the change of the primary's row.
func (op *operation) encode(s *Store, lookups lookupWriter, recorded recorder, origin *txn.Origin) error {
	c := txn.Change{Op: op.Op, Repeatable: op.Repeatable && !op.Repair && !op.Fill} // which also change rows that the content does not show
	c.PartitionKey, c.RowKey = op.Key.Partition, op.Key.Row
	c.Kind = wire.Insert
	stored := cmp.Or(op.was, op.over)
	if stored != nil {
		c.Kind, c.ETag = wire.Replace, stored.ETag
	}
	if op.now == nil {
		c.Kind = wire.Delete
		op.primary = c
		return nil
	}
	key, err := s.Table.KeyOf(op.now)
	if err != nil {
		return err
	}
	if key != op.Key {
		return azerr.ErrKeyChanged
	}
	op.origin = &txn.Origin{}
	if origin != nil {
		*op.origin = *origin
	}
	if l := op.views.Listing(); l != view.ListingOf(origin) {
		op.origin.Unknown = op.origin.Unknown.WithTexts(edm.Text{Name: view.PropViews, Value: string(l)})
	}
	if recorded != nil {
		op.origin.Unknown = recorded.Mark(&op.journal, &op.origin.Unknown)
	}
	if err := lookups.after(op); err != nil {
		return err
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Unknown: &op.origin.Unknown}
	if s.Table.Stamped {
		if stored != nil {
			c.Base = txn.BaseStamps(stored.ETag, op.origin.Stamp)
		}
		c.ID, e.Stamp = txn.NextStamps(c.Base)
		op.origin.Stamp = e.Stamp
	}
	c.Body, err = s.Table.Codec.Append(nil, op.now, e)
	op.primary = c
	if err == nil {
		op.origin.Unknown, _ = s.Table.Codec.After(op.now, &op.origin.Unknown, c.Body, false)
	}
	return err
}

// record is the primary after the operation.
func (p *planned) record(key keys.Key, etag string) txn.Record {
	if p.origin != nil {
		p.origin.Unknown.Stored(etag)
	}
	return txn.Record{Value: p.now, Key: key, ETag: etag, Origin: p.origin}
}
