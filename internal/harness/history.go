package harness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/azpatterns/azpatterns/internal/txn"
)

// Row is a version of one row, as an operation wrote or read it. A missing row is the zero Row.
type Row struct {
	Exists bool
	A, B   string
	ETag   string // "" if no client knows it yet
}

// Kind is what an operation does with one row.
type Kind string

// The kinds of operations.
const (
	Read       Kind = "read"
	InsertRow  Kind = "insert"  // if the row does not exist
	ReplaceRow Kind = "replace" // if the row has ETag
	MergeRow   Kind = "merge"   // likewise; B stays
	DeleteRow  Kind = "delete"  // likewise
	UpdateRow  Kind = "update"  // if A is Saw
	PutRow     Kind = "put"     // without a condition
	PutMerge   Kind = "put, merge"
	Remove     Kind = "remove" // without a condition
	TouchRow   Kind = "touch"  // if the row exists; changes its ETag only
	MissRow    Kind = "miss"   // a query that finds no row with A in its text
)

// Action is an operation on one row: the input.
type Action struct {
	Kind      Kind
	A, B      string
	ETag, Saw string
}

// Result is what the client learned: the output.
type Result struct {
	Outcome
	Row Row // that was read, or its new ETag
}

// Outcome is what a client knows of an operation that has ended.
type Outcome string

// The outcomes of operations.
const (
	Applied  Outcome = "ok"
	Unknown  Outcome = "unknown" // it may take effect at any time from now on, or never
	Exists   Outcome = "refused: the row exists"
	Missing  Outcome = "refused: no such row"
	Changed  Outcome = "refused: the row has another ETag"
	NeverRan Outcome = "refused" // for another reason
)

// next returns the row after the action, and whether the action's condition holds.
func (a *Action) next(r Row) (Row, bool) {
	written := Row{Exists: true, A: a.A, B: a.B}
	switch a.Kind {
	case InsertRow:
		return written, !r.Exists
	case ReplaceRow, MergeRow, DeleteRow:
		if !r.Exists || r.ETag != a.ETag {
			return r, false
		}
	case UpdateRow:
		if !r.Exists || r.A != a.Saw {
			return r, false
		}
		written.B = r.B
	case TouchRow:
		return Row{Exists: r.Exists, A: r.A, B: r.B}, r.Exists
	}
	switch a.Kind {
	case MergeRow, PutMerge:
		written.B = r.B
	case DeleteRow, Remove:
		return Row{}, true
	}
	return written, true
}

// rowModel is one row of a table, whose writes are atomic.
var rowModel = porcupine.Model{
	Init: func() any { return Row{} },
	Step: func(state, input, output any) (bool, any) {
		row, a, res := state.(Row), input.(Action), output.(Result)
		next, ok := a.next(row)
		switch res.Outcome {
		case Unknown:
			if !ok {
				return true, row
			}
			return true, next
		case Exists:
			return row.Exists, row
		case Missing:
			return !row.Exists, row
		case Changed:
			return row.Exists && row.ETag != a.ETag, row
		case NeverRan:
			return true, row
		}
		if a.Kind == MissRow {
			return !row.Exists || !strings.Contains(row.A, a.A), row
		}
		if a.Kind != Read {
			next.ETag = res.Row.ETag
			return ok, next
		}
		known := row
		if row.Exists && row.ETag == "" {
			known.ETag = res.Row.ETag
		}
		return known == res.Row, known
	},
	Equal: func(a, b any) bool { return a == b },
}

// History is what clients did with some rows, and what they learned. It may be used
// concurrently.
type History struct {
	mu   sync.Mutex
	rows map[string][]porcupine.Operation
}

// unansweredKey is the context key of the counter of [CountUnanswered].
type unansweredKey struct{}

// CountUnanswered returns a context in which n counts the deliveries of writes of which a
// process learns nothing certain: those whose fate is not [Delivered], and those whose context
// has ended when the reply arrives.
func CountUnanswered(ctx context.Context) (_ context.Context, n *atomic.Int32) {
	n = new(atomic.Int32)
	return context.WithValue(ctx, unansweredKey{}, n), n
}

// Add adds an operation that began at the given time and has ended now.
//
// again is how often the operation may take effect once more, at any time: an attempt of a
// write that does not depend on an ETag may arrive after another client has undone an earlier
// attempt.
func (h *History) Add(key string, began time.Time, a Action, res Result, again int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil {
		h.rows = map[string][]porcupine.Operation{}
	}
	if res.Row.ETag == txn.SupersededETag {
		res.Row.ETag = ""
	}
	op := operation(began, a, res, res.Outcome)
	h.rows[key] = append(append(h.rows[key], op), repeated(op, Result{Outcome: Unknown}, again)...)
}

// operation is one that began at the given time and has ended now, or never if its outcome is unknown.
func operation(began time.Time, input, output any, o Outcome) porcupine.Operation {
	op := porcupine.Operation{Input: input, Output: output, Call: began.UnixNano(), Return: time.Now().UnixNano()}
	if o == Unknown {
		op.Return = math.MaxInt64
	}
	return op
}

// repeated returns the operation as often as it may take effect again, at any time.
func repeated(op porcupine.Operation, unknown any, again int) []porcupine.Operation {
	op.Output, op.Return = unknown, math.MaxInt64
	return slices.Repeat([]porcupine.Operation{op}, again)
}

// textOf returns a line for each operation.
func textOf(ops []porcupine.Operation) string {
	var text strings.Builder
	for _, op := range ops {
		until := "later"
		if op.Return != math.MaxInt64 {
			until = time.Unix(0, op.Return).UTC().Format("15:04:05.000")
		}
		fmt.Fprintf(&text, "\n%s to %s: %+v: %+v", time.Unix(0, op.Call).UTC().Format("15:04:05.000"), until, op.Input, op.Output)
	}
	return text.String()
}

// Check returns an error with the operations of a row if they have no order that explains
// all results.
func (h *History) Check() error {
	for key, ops := range h.rows {
		// An operation of unknown outcome may also take effect after all others, so an order
		// of the others is enough.
		if slices.ContainsFunc(bounded(ops), func(some []porcupine.Operation) bool {
			return porcupine.CheckOperations(rowModel, some)
		}) {
			continue
		}
		slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(min(max(a.Call-b.Call, -1), 1)) })
		return fmt.Errorf("the results for row %s have no order:%s", key, textOf(ops))
	}
	return nil
}

// value is what is known of the writes of one text.
type value struct {
	call    int64 // of the write
	several bool  // several writes have the text
	applied bool  // one delivery is known to have taken effect
	read    int64 // when the first read that returned the text ended, 0 if there was none
}

// bounded returns the operations with an earlier return for each write of unknown outcome
// whose text a client has read: it took effect before that read returned. Operations without
// an effect are left out. The first history also lacks further deliveries of writes, and the
// first two lack the writes of unknown outcome whose texts were not read. The time of a check
// grows exponentially with the number of operations that may take effect after all others.
func bounded(ops []porcupine.Operation) (histories [][]porcupine.Operation) {
	histories = make([][]porcupine.Operation, 3)
	values := map[string]*value{}
	of := func(text string) *value {
		if values[text] == nil {
			values[text] = &value{}
		}
		return values[text]
	}
	for _, op := range ops {
		a, res := op.Input.(Action), op.Output.(Result)
		var read []string
		switch {
		case a.Kind == Read && res.Row.Exists:
			read = []string{res.Row.A, res.Row.B}
		case a.writes():
			for _, text := range []string{a.A, a.B} {
				v := of(text)
				v.several = v.several || text == "" || v.call != 0 && v.call != op.Call
				v.call = op.Call
				v.applied = v.applied || res.Outcome == Applied
			}
			if a.Kind == UpdateRow && res.Outcome == Applied {
				read = []string{a.Saw}
			}
		}
		for _, text := range read {
			if v := of(text); v.read == 0 || op.Return < v.read {
				v.read = op.Return
			}
		}
	}
	for _, op := range ops {
		a, res, least := op.Input.(Action), op.Output.(Result), 0
		if res.Outcome == NeverRan {
			continue
		}
		if res.Outcome == Unknown && a.writes() {
			v := values[a.A]
			if b := values[a.B]; v.several || v.read == 0 && !b.several {
				v = b
			}
			switch {
			case v.several:
			case v.read == 0 || v.read < op.Call: // not read
				least = 2
			case v.applied: // a further delivery
				least = 1
			default:
				v.applied = true
				op.Return = v.read
			}
		}
		for i := least; i < len(histories); i++ {
			histories[i] = append(histories[i], op)
		}
	}
	return histories
}

// writes reports whether the action writes a text into the row.
func (a *Action) writes() bool {
	return !slices.Contains([]Kind{Read, MissRow, DeleteRow, Remove, TouchRow}, a.Kind)
}
