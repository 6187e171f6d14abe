package outbox

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
)

// Queue is the queue of outbox messages.
type Queue interface {
	// Put adds a message that becomes visible after the given time, and never expires.
	Put(ctx context.Context, m Message, after time.Duration) (Receipt, error)

	// Delete removes the message. If a worker has received it meanwhile, Delete leaves it
	// to the worker and returns nil.
	Delete(ctx context.Context, r Receipt) error
}

// Receipt identifies a message that was put and not received since.
type Receipt struct{ ID, PopReceipt string }

// Message asks a worker to complete the operations of one transaction. It contains keys and
// no other data.
type Message struct {
	Partition string `json:"p"`  // of the primary
	ID        string `json:"id"` // of the operation

	// Reserved are the rows that the operation reserves before its transaction.
	Reserved []view.RowRef `json:"r,omitempty"`

	// Row is the primary's row key if rows are reserved.
	Row string `json:"k,omitempty"`

	// Others are the other operations of the transaction, in the same partition: their
	// Partition is "".
	Others []Message `json:"o,omitempty"`

	// Grace is set if the message was visible immediately. The operation may be in progress
	// until the message has this Age.
	Grace time.Duration `json:"g,omitempty"`

	// Age is how long before its delivery the message was put, 0 if that is unknown.
	Age time.Duration `json:"-"`
}

// maxOps is more operations than a transaction has.
const maxOps = 100

// check returns an error if no Store can have sent m. Anyone who can add a message can have
// written it: its keys lead to outbox rows, and to rows that are checked against their primaries.
func (m *Message) check() error {
	if len(m.Others) >= maxOps {
		return errBadMessage
	}
	for _, op := range m.operations() {
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
func (m *Message) young() bool { return 0 < m.Age && m.Age < m.Grace }

// operations returns a message for each operation that m names.
func (m Message) operations() []Message {
	all := append([]Message{m}, m.Others...)
	all[0].Others = nil
	for i := range all {
		all[i].Partition = m.Partition
	}
	return all
}
