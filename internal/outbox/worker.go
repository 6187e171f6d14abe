package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Process does what a message asks for. It may be called for any message, early, late,
// twice, and by several workers concurrently.
//
// If retryAfter is positive the message is to be delivered again after that time. If it
// is zero and err is nil, the message is to be deleted. After an error the message is to
// be delivered again, after retryAfter if that is positive, else with back-off.
//
// The error is a [*types.ViewMismatchError] if the message concerns a view which the Store does
// not have, or has with another definition: it is left to another version of the program. If
// [Store.Own] fails, nothing of the message is done.
func (s *Store) Process(ctx context.Context, m types.OutboxMessage) (retryAfter time.Duration, err error) {
	if err = checkMessage(&m); err == nil {
		_, err = s.Own(ctx, true)
	}
	if err != nil {
		return 0, fmt.Errorf("outbox message: %w", err)
	}
	retryAfter, err = s.process(ctx, m)
	if errors.Is(err, azerr.ErrNotFound) { // a late request of the writer, or a sweep, deleted an outbox row after it was read
		retryAfter, err = s.process(ctx, m)
	}
	if errors.Is(err, errInProgress) {
		retryAfter = min(max(m.Age, time.Second), m.Grace-m.Age)
	}
	if err != nil {
		err = fmt.Errorf("outbox message: %w", err)
	}
	return retryAfter, err
}

func (s *Store) process(ctx context.Context, m types.OutboxMessage) (retryAfter time.Duration, err error) {
	began := time.Now()
	ops := operations(m)
	missing, err := s.missingRecords(ctx, ops)
	if err != nil {
		return 0, err
	}
	found := make([]knownOperation, len(ops))
	errs := make([]error, len(ops))
	s.each(len(ops), func(i int) {
		if errs[i] = s.knows(ops[i].Reserved, ""); errs[i] == nil {
			found[i].OutboxMessage = ops[i]
			found[i].Age = m.Age
			found[i].outboxRecord, errs[i] = s.recordOf(ctx, &m, &ops[i], missing[ops[i].ID])
		}
	})
	var all []knownOperation
	var failed, inProgress error // of one transaction, while others are ready
	for i, err := range errs {
		switch {
		case err == nil:
			all = append(all, found[i])
		case errors.Is(err, errInProgress):
			inProgress = err
		default:
			failed = errors.Join(failed, err)
		}
	}
	if len(all) > 0 {
		retryAfter, err = s.processRecords(ctx, all, began)
	}
	if err = errors.Join(failed, err); err != nil {
		return 0, err
	}
	return retryAfter, inProgress
}

// errInProgress means that an operation has not been applied yet, and is too young to be fenced.
var errInProgress = azerr.Sentinel("the operation may be in progress")

// missingRecords returns the ids of the operations that have no outbox row, of those of one partition. One request
// for up to 14; none if there is only one operation, whose outbox row is read anyway.
func (s *Store) missingRecords(ctx context.Context, ops []types.OutboxMessage) (missing map[string]bool, err error) {
	if len(ops) == 1 {
		return nil, nil
	}
	sets := make([]*together, len(ops))
	for i := range ops {
		sets[i] = &together{names: []string{recordKey("", ops[i].ID).Row}}
	}
	_, err = s.readTogether(ctx, place{s.own, ops[0].Partition, "PartitionKey,RowKey"}, sets, time.Time{})
	missing = map[string]bool{}
	for i := range ops {
		missing[ops[i].ID] = err == nil && sets[i].rows[0] == nil
	}
	return missing, err
}

// recordOf returns the outbox row of an operation of m; missing means that it was not found just now. If there is none and the operation
// holds a row, recordOf inserts a fence, so that the row can be released, unless m is young. An operation that holds nothing needs no fence while the message is kept: if it is
// applied after all, it is found when m is older than Expiry. Then nothing of it can arrive any more. The record that recordOf returns is not stored.
func (s *Store) recordOf(ctx context.Context, m, op *types.OutboxMessage, missing bool) (r outboxRecord, err error) {
	if m.Age == 0 {
		return s.decide(ctx, op.Partition, op.ID, missing)
	}
	if !missing {
		found := false
		if r, found, err = s.readRecord(ctx, op.Partition, op.ID); err != nil || found {
			return r, err
		}
	}
	if young(m) {
		return r, errInProgress
	}
	if held, err := s.holdsRows(ctx, op); err != nil || !held {
		return outboxRecord{outboxRow: *fenceRow()}, err
	}
	return s.decide(ctx, op.Partition, op.ID, true)
}

// holdsRows reports whether a row has the mark of the operation of m. One request for each row
// that the message names.
func (s *Store) holdsRows(ctx context.Context, m *types.OutboxMessage) (held bool, err error) {
	targets, err := s.targets(&drain{primary: keys.Key{Partition: m.Partition, Row: m.Row}, op: m.ID, refs: m.Reserved})
	if err != nil {
		return false, err
	}
	if err := s.readRows(ctx, targets); err != nil {
		return false, err
	}
	for i := range targets {
		row, err := targets[i].found.Row.Content()
		if err != nil || row.Text(view.PropOp) == m.ID {
			return true, err
		}
	}
	return false, nil
}

// knownOperation is an operation whose outbox row is known.
type knownOperation struct {
	types.OutboxMessage // of this operation only
	outboxRecord
}

// processRecords does what is due for the operations of a message whose outbox rows were
// found, not before began. Each record is removed when all have been stored for Expiry.
func (s *Store) processRecords(ctx context.Context, all []knownOperation, began time.Time) (retryAfter time.Duration, err error) {
	refs := make([][]types.RowRef, len(all))
	for i := range all {
		f := &all[i]
		if refs[i], err = f.refs(); err == nil {
			err = s.knows(refs[i], view.Listing(f.Views))
		}
		if f.State == stateFence {
			refs[i] = f.Reserved
		}
		if err != nil {
			return 0, err
		}
	}
	left := make([]time.Duration, len(all))
	errs := make([]error, len(all))
	s.eachApart(refs, func(i int) {
		f := &all[i]
		left[i] = s.Expiry
		if f.ETag == "" { // it has no outbox row, and needs none; a row may have been left to it while it held that, and released later
			var wrote bool
			f.ID = "" // without a fence it may reserve a row now, and be applied later
			if wrote, errs[i] = s.releaseReserved(ctx, f.OutboxMessage, began); !wrote {
				left[i] -= f.Age
			}
			return
		}
		if f.State == statePending {
			errs[i] = s.acquire(ctx, f, began)
			return
		}
		if !f.Timestamp.IsZero() { // it was read, not written just now
			left[i] -= s.Table.Client.Age(f.Timestamp)
		}
		if left[i] > 0 && f.State == stateFence {
			_, errs[i] = s.releaseReserved(ctx, f.OutboxMessage, began)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if longest := slices.Max(left); longest > 0 {
		return longest, nil
	}
	return s.remove(ctx, all, refs, began)
}

// acquire drains an operation and marks it done. It first stores its own name in the
// row: from then on the writer, which may still be at work, does not delete the row.
func (s *Store) acquire(ctx context.Context, f *knownOperation, began time.Time) error {
	f.Worker = txn.NewID()
	acquired, err := s.replaceRecord(ctx, f.outboxRecord)
	if err != nil {
		return err
	}
	if _, err := s.drainRecord(ctx, f, began); err != nil {
		return err
	}
	acquired.State = stateDone
	_, err = s.replaceRecord(ctx, acquired)
	return err
}

// remove is the late check, which deletes the records of the operations of a message. Since
// the rows were brought up to date, a late request, or another client that drained an
// operation concurrently and crashed, may have changed a row. The limits of both are shorter
// than Expiry. The check may leave such a request itself, so it stores a record again before
// it writes anything: the record stays for another Expiry if the worker crashes, or if there
// was a row to correct.
func (s *Store) remove(ctx context.Context, all []knownOperation, refs [][]types.RowRef, began time.Time) (retryAfter time.Duration, err error) {
	rows := make([]outboxRef, len(all))
	wrote := make([]bool, len(all))
	errs := make([]error, len(all))
	s.eachApart(refs, func(i int) {
		f := &all[i]
		if f.ETag == "" {
			return
		}
		renewed, err := s.replaceRecord(ctx, f.outboxRecord)
		switch {
		case errors.Is(err, azerr.ErrNotFound): // another worker, or a sweep, was faster
		case err != nil:
			errs[i] = err
		case f.State == stateFence:
			wrote[i], errs[i] = s.releaseReserved(ctx, f.OutboxMessage, began)
		default:
			wrote[i], errs[i] = s.drainRecord(ctx, f, began)
		}
		if err == nil {
			rows[i] = outboxRef{f.Key, renewed.ETag}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if slices.Contains(wrote, true) { // or sent a write that may still arrive
		return s.Expiry, nil
	}
	rows = slices.DeleteFunc(rows, func(r outboxRef) bool { return r.etag == "" })
	if len(rows) == 0 {
		return 0, nil
	}
	err = s.deleteRecords(ctx, rows)
	if errors.Is(err, azerr.ErrNotFound) { // a sweep was faster
		if err = nil; len(rows) > 1 {
			return s.Expiry, nil // the other records were stored again just now
		}
	}
	return 0, err
}

// drainRecord drains the operation of an outbox row.
func (s *Store) drainRecord(ctx context.Context, f *knownOperation, began time.Time) (wrote bool, err error) {
	refs, err := f.refs()
	if err != nil {
		return false, err
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: f.Partition, Row: f.outboxRow.Row}, op: f.ID, refs: refs, began: began})
}

// releaseReserved brings the rows that a fenced operation may have reserved up to date
// with their primary, which does not include the operation.
func (s *Store) releaseReserved(ctx context.Context, m types.OutboxMessage, began time.Time) (wrote bool, err error) {
	if len(m.Reserved) == 0 {
		return false, nil
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: m.Partition, Row: m.Row}, op: m.ID, refs: m.Reserved, began: began})
}

// maxOps is more operations than a transaction has.
const maxOps = 100

// checkMessage returns an error if no Store can have sent m. Anyone who can add a message can have
// written it: its keys lead to outbox rows, and to rows that are checked against their primaries.
func checkMessage(m *types.OutboxMessage) error {
	if len(m.Others) >= maxOps {
		return errBadMessage
	}
	for _, op := range operations(*m) {
		id := recordKey(op.Partition, op.ID)
		primary := keys.Key{Partition: op.Partition, Row: op.Row}
		if op.ID == "" || id.Validate() != nil || primary.Validate() != nil || len(op.Others) > 0 {
			return errBadMessage
		}
		for _, ref := range op.Reserved {
			if ref.Key().Validate() != nil {
				return errBadMessage
			}
		}
	}
	return nil
}

var errBadMessage = azerr.Errorf("%w: no Store can have sent it", azerr.ErrBadMessage)

// young reports whether the operations of m may be in progress.
func young(m *types.OutboxMessage) bool { return 0 < m.Age && m.Age < m.Grace }

// operations returns a message for each operation that m names.
func operations(m types.OutboxMessage) []types.OutboxMessage {
	all := append([]types.OutboxMessage{m}, m.Others...)
	all[0].Others = nil
	for i := range all {
		all[i].Partition = m.Partition
	}
	return all
}
