package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// outboxRow is the record of an operation, stored at "~azp_outbox_<id>" in the
// primary's partition. It is inserted in the transaction that carries the operation
// out, so its key is the operation's identity.
type outboxRow struct {
	Format int32  `table:"azp_outbox,reserved"`           // of this row: outboxFormat
	State  string `table:"azp_state,reserved"`            // one of the states below
	Row    string `table:"azp_rk,reserved"`               // the primary's row key; "" on a fence
	Places string `table:"azp_rows,reserved"`             // JSON: the remote rows affected, old and new
	Worker string `table:"azp_worker,reserved,omitempty"` // the worker that acquired the operation
	Views  string `table:"azp_views,reserved,omitempty"`  // the view.Listing of the writer
}

const (
	outboxPrefix = view.ReservedRow + "_outbox_"
	outboxFormat = 1
	propFormat   = "azp_outbox" // the property of outboxRow.Format
	propRows     = "azp_rows"   // the property of outboxRow.Places

	statePending = "pending" // the operation was applied; its remote rows may not be up to date
	stateDone    = "done"    // a worker has brought the remote rows up to date
	stateFence   = "fence"   // the operation was not applied, and can no longer be
)

// outboxRecord is an outbox row as it was read or written.
type outboxRecord struct {
	outboxRow
	txn.Record
}

// committed reports whether the operation was applied.
func (r *outboxRecord) committed() bool { return r.State != stateFence }

func recordKey(partition, id string) keys.Key {
	return keys.Key{Partition: partition, Row: outboxPrefix + id}
}

func pendingRow(row string, refs []types.RowRef, views view.Listing) (*outboxRow, error) {
	text, err := json.Marshal(refs)
	return &outboxRow{
		Format: outboxFormat, State: statePending, Row: row, Places: string(text), Views: string(views),
	}, err
}

func fenceRow() *outboxRow {
	return &outboxRow{Format: outboxFormat, State: stateFence, Places: "[]"}
}

// refs decodes the remote rows that the operation affects.
func (r *outboxRow) refs() ([]types.RowRef, error) {
	if r.Format != outboxFormat {
		return nil, fmt.Errorf("outbox row of format %d, this version reads %d: %w", r.Format, outboxFormat, azerr.ErrBadReply)
	}
	var refs []types.RowRef
	if err := json.Unmarshal([]byte(r.Places), &refs); err != nil {
		return nil, fmt.Errorf("outbox row: property azp_rows: %w", azerr.ErrBadReply)
	}
	for _, ref := range refs {
		if ref.Key().Validate() != nil {
			return nil, fmt.Errorf("outbox row: property azp_rows: %w", azerr.ErrBadReply)
		}
	}
	return refs, nil
}

// insertOp inserts an outbox row.
func insertOp(row *outboxRow, key keys.Key) *txn.Op {
	op := &txn.Op{Kind: wire.Insert, Name: "insert", Value: row}
	op.At(key)
	return op
}

// insertRecord inserts an outbox row outside a transaction.
func (s *Store) insertRecord(ctx context.Context, row *outboxRow, key keys.Key) (outboxRecord, error) {
	r, err := s.records.Do(ctx, insertOp(row, key))
	return outboxRecord{*row, r}, err
}

// replaceRecord stores the changed row, on condition that no other client has changed it.
func (s *Store) replaceRecord(ctx context.Context, r outboxRecord) (outboxRecord, error) {
	stored, err := s.records.Do(ctx, &txn.Op{
		Kind: wire.Replace, Name: "replace", Value: &r.outboxRow, Key: r.Key, ETag: r.ETag, Origin: r.Origin,
	})
	return outboxRecord{r.outboxRow, stored}, err
}

// deleteRecords deletes outbox rows of one partition on condition that they have not
// changed: all of them or none. One request.
func (s *Store) deleteRecords(ctx context.Context, rows []outboxRef) error {
	remove := func(r outboxRef) *txn.Op {
		return &txn.Op{Kind: wire.Delete, Name: "delete", Key: r.key, ETag: r.etag}
	}
	if len(rows) == 1 {
		_, err := s.records.Do(ctx, remove(rows[0]))
		return err
	}
	batch := txn.NewBatch(s.records.Client)
	for _, r := range rows {
		batch.Add(s.records, remove(r))
	}
	_, err := batch.Commit(ctx)
	return err
}

// readRecord reads the outbox row of an operation; ok is false if there is none.
func (s *Store) readRecord(ctx context.Context, partition, id string) (r outboxRecord, ok bool, err error) {
	stored, err := s.records.Get(ctx, recordKey(partition, id))
	if errors.Is(err, azerr.ErrNotFound) {
		return outboxRecord{}, false, nil
	}
	if err != nil {
		return outboxRecord{}, false, err
	}
	return outboxRecord{*stored.Value.(*outboxRow), stored}, true, nil
}

// decide finds out permanently whether an operation was applied. If there is no outbox
// row it inserts a fence, so that the operation's transaction can no longer succeed. missing means
// that the row was not found just now, and is not read first.
func (s *Store) decide(ctx context.Context, partition, id string, missing bool) (r outboxRecord, err error) {
	for try := 1; ; try++ {
		if !missing {
			found := false
			if r, found, err = s.readRecord(ctx, partition, id); err != nil || found {
				return r, err
			}
		}
		missing = false
		r, err = s.insertRecord(ctx, fenceRow(), recordKey(partition, id))
		if err == nil || !errors.Is(err, azerr.ErrExists) && !errors.Is(err, azerr.ErrOutcomeUnknown) || try >= s.Tries {
			return r, err
		}
	}
}

// fence makes sure that the operation of m, which was not applied, never will be. It puts m
// first, because the operation's own message may be gone: m removes the fence later, and
// corrects the rows that it names.
func (s *Store) fence(ctx context.Context, m types.OutboxMessage) error {
	if s.Queue == nil {
		return fmt.Errorf("a row is held by an operation: StoreOptions.Outbox: %w", azerr.ErrNil)
	}
	if _, err := s.Queue.Put(ctx, m, s.Grace); err != nil {
		return fmt.Errorf("outbox message: %w", azerr.Seal(err))
	}
	_, err := s.decide(ctx, m.Partition, m.ID, false)
	return err
}

// fenceIfUndecided makes sure that an operation was applied, or never will be.
func (s *Store) fenceIfUndecided(ctx context.Context, partition, id string) error {
	_, decided, err := s.readRecord(ctx, partition, id)
	if err != nil || decided {
		return err
	}
	return s.fence(ctx, types.OutboxMessage{Partition: partition, ID: id})
}
