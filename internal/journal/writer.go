package journal

import (
	"context"

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
}

// Attempt begins an attempt to change the entities at some keys; was is what each of them is now, nil if it is not stored.
func (t *Transaction) Attempt(ctx context.Context, n int, of func(i int) (r *Recording, entity keys.Key, was *txn.Record)) error {
	t.epoch, t.first, t.id, t.changes = 0, false, txn.NewID(), nil
	for i := range n {
		r, entity, was := of(i)
		if t.epoch = max(t.epoch, versionIn(was).Epoch); r.reread {
			newest, _, err := t.journal.Changes(ctx, entity, query.Filter{}, "", &types.QueryOptions{Limit: 1})
			if err != nil {
				return err
			}
			if r.reread = false; len(newest) > 0 {
				r.last = newest[0].Version
			}
		}
		t.epoch = max(t.epoch, r.last.Epoch)
	}
	if known := max(t.epoch, t.journal.epochOf(t.partition)); known > 0 && !t.stale {
		t.epoch = known
		return nil
	}
	now, err := t.journal.readRoot(ctx, t.partition)
	if t.stale = err != nil; err != nil {
		return err
	}
	if t.first = now.epoch == 0; t.first {
		now.epoch = max(t.epoch, 1) // the entities may have been copied to this table
	}
	t.epoch = now.epoch
	return nil
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
	last := r.last
	if v := versionIn(stored); v.Compare(last) > 0 {
		last = v
	}
	r.row.Version = last.next(t.epoch)
	t.changes = append(t.changes, r)
	if now == nil && r.row.Before == nil && r.view.Journal.Content != types.KeyOnly {
		r.row.Before, err = t.encode(was)
	}
	return err
}

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
	return t.heads() + len(t.changes)
}

// heads is how many rows of the partition come before those of the changes: the root, if the transaction inserts it, and the marker.
func (t *Transaction) heads() int {
	if t.first {
		return 2
	}
	return 1
}

// Add adds the rows of the journal to the transaction.
func (t *Transaction) Add(batch *txn.Batch) {
	if t.at = batch.Len(); len(t.changes) == 0 {
		return
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
		batch.Add(rows, r.row.insert(r.view.Name))
	}
}

// Refused records that the change at index could not be made, -1 for an unknown one, and reports whether that is a row of the journal.
func (t *Transaction) Refused(index int) bool {
	if len(t.changes) == 0 || index >= 0 && index < t.at {
		return false
	}
	i := index - t.at - t.heads()
	switch {
	case i < 0: // the epoch was closed, or the partition has one
		t.stale = true
		t.journal.setEpoch(t.partition, 0)
		return index >= 0
	case i >= len(t.changes):
		return false
	}
	t.changes[i].reread = true
	return true
}

// Committed records that the transaction was applied.
func (t *Transaction) Committed() {
	if len(t.changes) > 0 {
		t.journal.setEpoch(t.partition, t.epoch)
	}
}

// Applied reports whether the row of a change shows that the transaction was applied. It makes at most one request.
func (t *Transaction) Applied(ctx context.Context) (bool, error) {
	if len(t.changes) == 0 {
		return false, nil
	}
	row, err := txn.ReadRow(ctx, t.journal.rows.Client, t.changes[0].row.key())
	if err != nil || row.Absent() {
		return false, err
	}
	content, err := row.Content()
	return content.Text(view.PropOp) == t.id, err
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
	}
	return rows
}
