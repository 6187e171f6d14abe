package types

import (
	"context"
	"time"
)

// OutboxQueue is the queue of a patterns.Store's outbox messages. Package eventual implements it
// on Azure Queue Storage. A message asks a worker to complete an operation that may have
// been interrupted; it may be delivered late, early or more than once. A Store calls its
// methods concurrently. If it also has a method Create(ctx context.Context) error,
// patterns.Store.Create calls it.
type OutboxQueue interface {
	// Put adds a message that becomes visible after the given time, and never expires.
	Put(ctx context.Context, m OutboxMessage, after time.Duration) (Receipt, error)

	// Delete removes the message. If a worker has received it meanwhile, Delete leaves it
	// to the worker and returns nil.
	Delete(ctx context.Context, r Receipt) error
}

// Receipt identifies a message that was put and has not been received since.
type Receipt struct{ ID, PopReceipt string }

// OutboxMessage asks a worker to complete the operations of a transaction, or of several in one partition. It contains keys
// and no other data.
type OutboxMessage struct {
	Partition string `json:"p"`  // of the primary
	ID        string `json:"id"` // of the operation

	// Reserved are the rows that the operation reserves before its transaction; most
	// operations reserve none.
	Reserved []RowRef `json:"r,omitempty"`

	// Row is the primary's row key if rows are reserved.
	Row string `json:"k,omitempty"`

	// Others are the other operations: those of a transaction over several entities, and of other transactions. They are in the
	// same partition; their Partition is "".
	Others []OutboxMessage `json:"o,omitempty"`

	// Grace is set if the message was visible immediately, which it is with patterns.Later. The
	// operation may be in progress until the message has this Age.
	Grace time.Duration `json:"g,omitempty"`

	// Age is how long before its delivery the message was put, by the clock of the queue. It
	// is not stored: who delivers the message sets it. 0 means unknown; then an operation of
	// the Store in progress may have to start over.
	Age time.Duration `json:"-"`
}

// FinisherStats are the figures of a patterns.Finisher. A transaction of a Store is one, also if it has several entities.
type FinisherStats struct {
	Held     int // transactions that are not finished, also those whose calls write the rows elsewhere
	Finished int // transactions
	Left     int // transactions that were left to a worker
	Groups   int // in which these were finished or left
}
