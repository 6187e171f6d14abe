package outbox

import (
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Intent is what an operation is to do to one primary.
type Intent struct {
	Op  string // "insert", "put", …
	Key keys.Key

	Was   *txn.Record // the current version, if Known
	Known bool        // Was is given, nil for no row; otherwise the primary is read first

	Reread     bool // after a conflict the primary is read again
	Repeatable bool // applying it twice has the same effect as applying it once
	Repair     bool // rows are checked even if they need no change

	// Rows, if not nil, are the only rows to repair. The entity, if there is one, stays as it
	// is, except its ETag, so Next is not used. All intents of a transaction have Rows, or none.
	Rows []types.RowRef

	// Found is what was read of some rows before Was, or while Was was the current version. That
	// of all Rows is needed if Was is Known, and used by the first attempt only.
	Found map[types.RowRef]view.Found

	Corrects int // how many rows are known to be wrong

	// Fill means that Next returns the entity unchanged, to get rows of views that it does
	// not list. These are inserted without reading them first; if one exists, the next
	// attempt reads them.
	Fill bool

	// IfExists means that the intent is carried out if there is no entity and Next returns none.
	// Nothing then makes a transaction depend on the entity, so it must be the only intent of its
	// transaction, or one of several that need not be isolated from others.
	IfExists bool

	// Next returns the new version of the entity, nil to delete it.
	Next     func(was *txn.Record) (any, error)
	Computed bool // Next depends on was, and may change it

	// Spent, if not nil, is set by the attempt that takes Was, because Next may change what its value
	// refers to. Every other attempt reads the primary, also those of other intents with this Spent.
	Spent *atomic.Bool
}

// Deletion returns the intent to delete an entity if it is the version that was read.
func Deletion(was *txn.Record) *Intent {
	return &Intent{Op: "delete", Key: was.Key, Was: was, Known: true, Next: func(*txn.Record) (any, error) { return nil, nil }}
}
