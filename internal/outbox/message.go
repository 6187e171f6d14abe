package outbox

import (
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

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
