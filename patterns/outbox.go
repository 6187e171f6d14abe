package patterns

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// How an operation with rows outside the primary's partition is carried out:
//
//  1. A wake-up goes on the queue, invisible for the grace time. Then unique rows
//     are reserved: inserted, or marked with the operation's id (azp_op).
//  2. One transaction: the primary under its condition, its local rows, and the
//     insert of the outbox row, whose key is the operation's id.
//  3. Drain: read the rows touched, read the primary, write each row under the
//     condition that it has not changed, read the primary again; repeat if it has.
//     Then delete the outbox row, unless a worker has it, and the wake-up.
//  4. A worker that is shown the wake-up writes its name into the outbox row, drains,
//     and marks the row done. Where it finds no row it inserts a fence in its place
//     and releases what was reserved. After the expiry it is shown the wake-up again:
//     it drains once more, for the sake of anyone who wrote late, and removes the row.
//
// Why it is right. The outbox row commits with the data or not at all, and its key
// cannot be inserted twice: so reading it, or putting a fence there, decides for good
// whether a transaction with a lost reply was carried out. Whoever writes a row has
// read it before the primary, and reads the primary after: a stale write is followed
// by its own correction, or its writer died, and then the outbox row is still there,
// because only a writer that nobody has taken over from deletes it early. A unique row
// is held from before the transaction that needs it until after the one that gives it
// up, and is taken from a primary only when that primary, read after the row, does
// not imply it. The mark on it is that of the last operation to reserve it: of one
// before, of the same primary, it is certain by then whether it is carried out; and
// a drain of one operation keeps the mark of another.

// Wakeups is the queue of a [Store]'s outbox. Package eventual has it on Azure
// Queue Storage. A message is a promise that somebody looks after an operation that
// may have been cut short; delivery may come late, early or more than once.
type Wakeups interface {
	// Put adds a wake-up that is shown after the given time, and never expires.
	Put(ctx context.Context, w Wakeup, after time.Duration) (Receipt, error)

	// Delete removes the wake-up. If it has been shown to a worker meanwhile, the
	// worker has it: then Delete leaves it alone and returns nil.
	Delete(ctx context.Context, r Receipt) error
}

// Receipt is what it takes to delete a wake-up that nobody has been shown yet.
type Receipt struct{ ID, Pop string }

// Wakeup asks to look after one operation. It holds keys, no other data.
type Wakeup struct {
	Partition string `json:"p"`  // of the primary
	ID        string `json:"id"` // of the operation

	// Reserved are the rows that the operation reserves before its transaction;
	// none for most.
	Reserved []Place `json:"r,omitempty"`

	// Row is the primary's row key where there is something reserved.
	Row string `json:"k,omitempty"`
}

// Place is a row of a view.
type Place struct {
	View      string `json:"v"`
	Partition string `json:"p"`
	Row       string `json:"r"`
}

// Key is the place's key.
func (p Place) Key() keys.Key { return keys.Key{Partition: p.Partition, Row: p.Row} }
