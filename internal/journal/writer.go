package journal

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Transaction adds the rows of a journal to a transaction, in as many attempts as that takes.
type Transaction struct {
	journal   *Journal
	partition string
	epoch     int64 // of the attempt
	first     bool  // the partition has no epoch yet
	stale     bool  // the last attempt failed because of the marker: the root must be read
	id        string
	at        int // the first change of the transaction that is one of the journal
	changes   []*Recording

	read int64        // the epoch in the root when it was read last
	lost int64        // the epoch whose marker did not exist in the last attempt, although the root had it before
	open []openChange // of earlier attempts whose outcome is not known

	wakes int // how often feeds were woken
}

// openChange is the first change of an attempt that may have been applied, or may still be.
type openChange struct {
	key keys.Key
	id  string
}

// Begin begins a transaction.
func (j *Journal) Begin(partition string) *Transaction {
	return &Transaction{journal: j, partition: partition}
}

// Recording is what is recorded of an operation of a transaction. The zero Recording records nothing.
type Recording struct {
	view   *view.View
	row    Row
	last   Version // of the entity's newest row, which was read because the next version was taken
	reread bool    // it must be read
	begins bool    // the entity has no version yet
}

// Attempt begins an attempt to change the entities at some keys; was is what each of them is now, nil if it is not stored. It reports
// whether an earlier attempt was applied, whose outcome was not known.
func (t *Transaction) Attempt(ctx context.Context, n int, of func(i int) (r *Recording, entity keys.Key, was *txn.Record)) (applied bool, err error) {
	err = calls.Each(ctx, n, parallel, func(ctx context.Context, i int) error {
		r, entity, _ := of(i)
		if !r.reread {
			return nil
		}
		newest, err := t.journal.Newest(ctx, entity, query.Filter{})
		if err == nil {
			if r.reread = false; newest != nil {
				r.last = newest.Version
			}
		}
		return err
	})
	if err != nil {
		return false, err
	}
	if applied, err = t.anyApplied(ctx); applied || err != nil {
		return applied, err
	}
	t.epoch, t.first, t.id, t.changes = 0, false, txn.NewID(), nil
	for i := range n {
		r, _, was := of(i)
		t.epoch = max(t.epoch, versionIn(was).Epoch, r.last.Epoch)
	}
	if known := t.journal.epochOf(t.partition, t.epoch); known > 0 && !t.stale {
		t.epoch = known
		return false, nil
	}
	now, err := t.journal.readRoot(ctx, t.partition)
	if err != nil {
		return false, err
	}
	t.read = now.epoch
	switch {
	case now.epoch == 0:
		t.first, t.epoch = true, t.epoch+1 // the entities may have been copied to this table
	case t.lost == now.epoch, t.epoch > now.epoch: // rows were deleted, or copied, without the Store
		to := max(t.epoch, now.epoch) + 1
		if err := t.journal.advance(ctx, t.partition, now, to, t.lost == now.epoch); err != nil {
			return false, err
		}
		t.epoch = to
	default:
		t.epoch = now.epoch
	}
	t.stale, t.lost = false, 0
	return false, nil
}

// Before begins the recording of a change of was by v, nil if the change is not recorded. The function that makes the next version has not
// been called, because it may change what was refers to.
func (t *Transaction) Before(r *Recording, v *view.View, was *txn.Record) (err error) {
	r.view, r.row = v, Row{}
	if v != nil && was != nil && (v.Journal.Content == types.BeforeAndAfter || v.Journal.Content == types.Changed) {
		r.row.Before, err = t.encode(was)
	}
	return err
}

func (t *Transaction) encode(r *txn.Record) ([]byte, error) {
	e := edm.Envelope{PartitionKey: r.Key.Partition, RowKey: r.Key.Row}
	if r.Origin != nil {
		e.Unknown = &r.Origin.Unknown
	}
	return t.journal.entities.Codec.Append(nil, r.Value, e)
}

// Record determines the version of the change of stored, the entity or the row that is there now, nil for none. was is the entity
// before, now the one after it, nil for none.
func (t *Transaction) Record(r *Recording, entity keys.Key, stored, was *txn.Record, now any, expired bool) (err error) {
	if r.view == nil || was == nil && now == nil || !r.view.Journal.Records(valueOf(was), now) {
		return nil
	}
	r.row.Entity, r.row.Op, r.row.Event = entity, t.id, types.Updated
	switch {
	case now == nil && expired:
		r.row.Event = types.Expired
	case now == nil:
		r.row.Event = types.Deleted
	case was == nil:
		r.row.Event = types.Inserted
	}
	last, v := r.last, versionIn(stored)
	if r.begins = v == (Version{}); v.Compare(last) > 0 {
		last = v
	}
	r.row.Version = last.next(t.epoch)
	t.changes = append(t.changes, r)
	if now == nil && r.row.Before == nil && r.view.Journal.Content != types.KeyOnly {
		r.row.Before, err = t.encode(was)
	}
	if now == nil && len(r.row.Before) > maxDeleted {
		r.row.Before = nil
	}
	return err
}

// maxDeleted is how large the row of a deleted entity may be, as JSON, to be recorded: a delete must not fail because of it. A row has 1 MiB,
// of which the names of all properties, with Changed, may take 64 KiB.
const maxDeleted = 950_000

func valueOf(r *txn.Record) any {
	if r == nil {
		return nil
	}
	return r.Value
}

// Mark returns what the changed entity is stored with.
func (t *Transaction) Mark(r *Recording, unknown *edm.Unknown) edm.Unknown {
	if r.row.Version.Epoch == 0 {
		return *unknown
	}
	return unknown.WithTexts(edm.Text{Name: Prop, Value: r.row.Version.String()})
}

// After completes the recording with the changed row of the entity, nil if it was deleted.
func (t *Transaction) After(r *Recording, body []byte) (err error) {
	if r.row.Version.Epoch == 0 {
		return nil
	}
	switch r.view.Journal.Content {
	case types.After, types.BeforeAndAfter:
		r.row.After = body
	case types.Changed:
		err = r.row.keepChanges(body)
	}
	return err
}

// Rows is how many rows the journal adds to the transaction.
func (t *Transaction) Rows() int {
	if len(t.changes) == 0 {
		return 0
	}
	n := len(t.changes)
	if len(t.journal.feeds) > 0 {
		n *= 2
	}
	return t.heads() + n
}

// heads is how many rows of the partition come before those of the changes: the root, if the transaction inserts it, and the marker.
func (t *Transaction) heads() int {
	if t.first {
		return 2
	}
	return 1
}

// Add adds the rows of the journal to the transaction. If there are feeds, it first makes sure that they will read its epoch, which takes a
// request for each unless the program has made it before.
func (t *Transaction) Add(ctx context.Context, batch *txn.Batch) error {
	if t.at = batch.Len(); len(t.changes) == 0 {
		return nil
	}
	rows := t.journal.rows
	mark := put(wire.Merge, marker(t.partition, t.epoch), edm.Properties{})
	mark.ETag = "*"
	if t.first {
		batch.Add(rows, put(wire.Insert, keys.Key{Partition: t.partition, Row: rootRow}, edm.Properties{propEpoch: t.epoch}))
		mark = put(wire.Insert, marker(t.partition, t.epoch), edm.Properties{})
	}
	batch.Add(rows, mark)
	for _, r := range t.changes {
		batch.Add(rows, r.row.insert(r.view.Name, r.row.key()))
	}
	if len(t.journal.feeds) == 0 {
		return nil
	}
	for _, r := range t.changes {
		batch.Add(rows, r.row.insert(r.view.Name, r.row.feedKey()))
	}
	if batch.Err() != nil {
		return nil // which the caller reports
	}
	return t.wake(ctx)
}

// Refused records that the change at index could not be made, -1 for an unknown one, and reports whether that is a row of the journal.
// missing means that the row does not exist.
func (t *Transaction) Refused(index int, missing bool) bool {
	if len(t.changes) == 0 || index >= 0 && index < t.at {
		return false
	}
	i := index - t.at - t.heads()
	switch {
	case i < 0: // the epoch was closed, or the partition has one
		if t.stale = true; index >= 0 && missing && t.epoch == t.read { // and otherwise another row, or before the partition had an epoch
			t.lost = t.epoch
		}
		t.journal.setEpoch(t.partition, 0)
		return index >= 0
	case i >= t.Rows()-t.heads():
		return false
	}
	t.changes[i%len(t.changes)].reread = true
	for _, r := range t.changes { // others may have been deleted in this epoch too
		r.reread = r.reread || r.begins && r.last == (Version{})
	}
	return true
}

// Committed records that the transaction was applied.
func (t *Transaction) Committed() {
	if len(t.changes) > 0 {
		t.journal.setEpoch(t.partition, t.epoch)
	}
}

// Applied reports whether the row of a change shows that the transaction, whose outcome is not known, was applied. If not, it may still
// be. It makes at most one request for each such attempt.
func (t *Transaction) Applied(ctx context.Context) (bool, error) {
	if len(t.changes) == 0 {
		return false, nil
	}
	t.open = append(t.open, openChange{t.changes[0].row.key(), t.id})
	return t.anyApplied(ctx)
}

// anyApplied reports whether one of the attempts whose outcome is not known was applied. An attempt whose version another change has
// cannot be applied any more. One whose version none has, and the next attempt, which takes the same version, cannot both be.
func (t *Transaction) anyApplied(ctx context.Context) (bool, error) {
	for i := len(t.open) - 1; i >= 0; i-- {
		row, err := txn.ReadRow(ctx, t.journal.rows.Client, t.open[i].key)
		if err != nil {
			return false, err
		}
		if row.Absent() {
			continue
		}
		content, err := row.Content()
		if err != nil || content.Text(view.PropOp) == t.open[i].id {
			return err == nil, err
		}
		t.open = slices.Delete(t.open, i, i+1)
	}
	return false, nil
}

// Steps returns the rows that a journal adds to a transaction which changes n entities of a partition that has an epoch.
func (t *Transaction) Steps(v *view.View, n int, of func(i int) (entity keys.Key, was, now any)) (rows []types.StepRow) {
	for i := range n {
		entity, was, now := of(i)
		if !v.Journal.Records(was, now) {
			continue
		}
		if rows == nil {
			rows = append(rows, types.StepRow{View: v.Name, Action: "merge marker", Key: keys.Key{Partition: entity.Partition, Row: rootRow + "_…"}})
		}
		rows = append(rows, types.StepRow{View: v.Name, Action: "insert change", Key: keys.Key{Partition: entity.Partition, Row: history(entity.Row) + "…"}})
		if len(v.Journal.Feeds) > 0 {
			rows = append(rows, types.StepRow{View: v.Name, Action: "insert change for feeds", Key: keys.Key{Partition: entity.Partition, Row: feedPrefix + "…"}})
		}
	}
	return rows
}
