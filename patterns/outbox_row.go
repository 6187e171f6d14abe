package patterns

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// The outbox row of an operation, "~azp_outbox_<id>" in the primary's partition, is
// the operation's identity: it is inserted in the transaction that carries the
// operation out.
//
//	pending  the operation was carried out; its remote rows may not be right yet
//	done     a worker has made them right
//	fence    the operation was not carried out, and cannot be any more
type outboxRow struct {
	Format int32  `table:"azp_outbox,reserved"`           // of this row: outboxFormat
	State  string `table:"azp_state,reserved"`            // see above
	Row    string `table:"azp_rk,reserved"`               // the primary's row key; "" on a fence
	Places string `table:"azp_rows,reserved"`             // JSON: the remote rows touched, old and new
	Worker string `table:"azp_worker,reserved,omitempty"` // the worker that took the operation over
}

const (
	outboxPrefix = reservedRow + "_outbox_"
	outboxFormat = 1

	statePending = "pending"
	stateDone    = "done"
	stateFence   = "fence"
)

func outboxKey(partition, id string) keys.Key {
	return keys.Key{Partition: partition, Row: outboxPrefix + id}
}

// newID names an operation, or a worker's hold on one.
func newID() string { return rand.Text() }

func pendingRow(row string, places []Place) (*outboxRow, error) {
	text, err := json.Marshal(places)
	return &outboxRow{Format: outboxFormat, State: statePending, Row: row, Places: string(text)}, err
}

func fenceRow() *outboxRow {
	return &outboxRow{Format: outboxFormat, State: stateFence, Places: "[]"}
}

// places reads the row's list.
func (r *outboxRow) places() ([]Place, error) {
	if r.Format != outboxFormat {
		return nil, fmt.Errorf("outbox row of format %d, this version reads %d: %w", r.Format, outboxFormat, ErrBadReply)
	}
	var all []Place
	if err := json.Unmarshal([]byte(r.Places), &all); err != nil {
		return nil, fmt.Errorf("outbox row: property azp_rows: %w", ErrBadReply)
	}
	return all, nil
}

// age is how long ago a row was written at the given time of the service, by this
// process's clock.
func age(at time.Time) time.Duration { return time.Since(at) }

// peekOutbox reads an operation's outbox row; ok is false if there is none.
func (s *Store[T]) peekOutbox(ctx context.Context, partition, id string) (row Item[outboxRow], ok bool, err error) {
	row, err = s.outbox.Get(ctx, outboxKey(partition, id))
	if errors.Is(err, ErrNotFound) {
		return row, false, nil
	}
	return row, err == nil, err
}

// settleOutbox finds out, for good, whether an operation was carried out. Where
// there is no outbox row yet it puts a fence in its place, so that there never will
// be one.
func (s *Store[T]) settleOutbox(ctx context.Context, partition, id string) (row Item[outboxRow], err error) {
	for try := 1; ; try++ {
		row, ok, err := s.peekOutbox(ctx, partition, id)
		if err != nil || ok {
			return row, err
		}
		row, err = s.outbox.Do(ctx, InsertOp(fenceRow()).At(outboxKey(partition, id)))
		if err == nil || !errors.Is(err, ErrExists) && !errors.Is(err, ErrOutcomeUnknown) || try >= s.opts.Tries {
			return row, err
		}
	}
}

// committed reports whether the operation was carried out.
func committed(row Item[outboxRow]) bool { return row.Value.State != stateFence }
