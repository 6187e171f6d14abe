package harness

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Change is what a transaction does with one of its rows.
type Change struct {
	Key  string
	Kind Kind // InsertRow, PutRow, Read; UpdateRow and ReplaceRow: if the row is Saw; DeleteRow: if it exists; Remove

	Value string // that is written or was read, "" for no row
	Saw   string
}

// TransactionResult is what a client learned about a transaction.
type TransactionResult struct {
	Outcome
	Failed int // the change that was refused, if Outcome is Exists, Missing or Changed
}

// refused reports whether the change would be refused with o if the row had the value.
func (c *Change) refused(value string, o Outcome) bool {
	switch o {
	case Exists:
		return value != ""
	case Missing:
		return value == ""
	case Changed:
		return value != "" // it may be another version with the same value
	}
	return true
}

// apply returns the value of the row after the change, and whether its condition holds.
func (c *Change) apply(value string) (string, bool) {
	switch c.Kind {
	case Read:
		return value, value == c.Value
	case InsertRow:
		return c.Value, value == ""
	case ReplaceRow, UpdateRow:
		return c.Value, value != "" && value == c.Saw
	case DeleteRow:
		return "", value != ""
	case Remove:
		return "", true
	}
	return c.Value, true
}

// transactionModel is the rows of a partition, by key. A transaction changes all of its rows or
// none.
var transactionModel = porcupine.Model{
	Init: func() any { return map[string]string{} },
	Step: func(state, input, output any) (bool, any) {
		rows, res := state.(map[string]string), output.(TransactionResult)
		changes := input.([]Change)
		switch res.Outcome {
		case NeverRan:
			return true, rows
		case Exists, Missing, Changed:
			c := &changes[res.Failed]
			return c.refused(rows[c.Key], res.Outcome), rows
		}
		next := maps.Clone(rows)
		for i := range changes {
			c := &changes[i]
			value, ok := c.apply(next[c.Key])
			if !ok {
				return res.Outcome == Unknown, rows
			}
			if next[c.Key] = value; value == "" {
				delete(next, c.Key)
			}
		}
		return true, next
	},
	Equal: func(a, b any) bool { return maps.Equal(a.(map[string]string), b.(map[string]string)) },
}

// Transactions is what clients did with several rows of one partition, and what they learned.
// It may be used concurrently.
type Transactions struct {
	mu    sync.Mutex
	ops   []porcupine.Operation
	again []porcupine.Operation // that may take effect once more
}

// Add adds a transaction that began at the given time and has ended now. again is how often it
// may take effect once more, at any time.
func (h *Transactions) Add(began time.Time, changes []Change, res TransactionResult, again int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := operation(began, slices.Clone(changes), res, res.Outcome)
	h.ops = append(h.ops, op)
	h.again = append(h.again, repeated(op, TransactionResult{Outcome: Unknown}, again)...)
}

// maxUnknown is of how many transactions Check tries whether, and when, they took effect: each more takes it twice as long.
const maxUnknown = 15

// ErrUndecided means that a history is too long to be judged.
var ErrUndecided = errors.New("the order of the transactions is undecided")

// Check returns an error with all transactions if they have no order that explains all results. It is ErrUndecided if more
// than maxUnknown may or may not have taken effect, and no order of the others explains the results.
func (h *Transactions) Check() error {
	// A transaction of unknown outcome may also take effect after all others, so an order of the
	// others is enough. The time of a check grows exponentially with the number of those that may.
	known := slices.DeleteFunc(slices.Clone(h.ops), func(op porcupine.Operation) bool { return op.Return == math.MaxInt64 })
	for _, ops := range [][]porcupine.Operation{known, h.ops, slices.Concat(h.ops, h.again)} {
		if len(ops)-len(known) > maxUnknown {
			return ErrUndecided
		}
		if porcupine.CheckOperations(transactionModel, ops) {
			return nil
		}
	}
	return fmt.Errorf("the results of the transactions have no order:%s", textOf(h.ops))
}
