package patterns

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Explanation is how a [Store] carries out an operation when nothing goes wrong and
// nobody interferes. Print it: it reads like a database's EXPLAIN. The verb %+v also
// prints the rows' keys.
type Explanation struct {
	Op    string // "insert", "put", "update" or "delete"
	Steps []Step // in order

	// Requests that the steps make. Each is billed as one transaction, an entity
	// group transaction too.
	Requests int

	// Entities written by the steps. The scalability targets count these, and the
	// reads.
	Entities int
}

// Step is a part of an operation. Its requests are independent of each other.
type Step struct {
	Title    string
	Requests int
	When     When
	Rows     []StepRow // what it reads or writes, if that are rows
}

// When says how a step stands to the change of the primary.
type When int

const (
	Before   When = iota // done first; it changes no entity
	Atomic               // one transaction: all of it happens or nothing
	Eventual             // follows at once; after a crash, when a worker does it
)

var whenNames = [...]string{"before", "atomic", "eventual"}

func (w When) String() string { return whenNames[w] }

// StepRow is a row that a step reads or writes.
type StepRow struct {
	View   string // "" for the primary and for rows that the Store keeps for itself
	Action string // "insert copy", "read list", …
	Key    keys.Key
}

// String is the plan as text, without keys.
func (e *Explanation) String() string { return e.text(false) }

// Format adds the keys for %+v only.
func (e *Explanation) Format(f fmt.State, verb rune) {
	io.WriteString(f, e.text(verb == 'v' && f.Flag('+')))
}

// LogValue keeps the keys out of a log: [slog.TextHandler] prints with %+v.
func (e *Explanation) LogValue() slog.Value { return slog.StringValue(e.String()) }

func (e *Explanation) text(withKeys bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s written\n", e.Op, count(e.Requests, "transaction"), count(e.Entities, "entity"))
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%d. %-8s  %s: %s\n", i+1, s.When, s.Title, count(s.Requests, "request"))
		alike := 0
		for j, r := range s.Rows {
			if alike++; !withKeys && j+1 < len(s.Rows) && s.Rows[j+1].Action == r.Action && s.Rows[j+1].View == r.View {
				continue
			}
			fmt.Fprintf(&b, "             %s", r.Action)
			if r.View != "" {
				fmt.Fprintf(&b, " of %s", r.View)
			}
			if alike > 1 && !withKeys {
				fmt.Fprintf(&b, ", %d times", alike)
			}
			if withKeys {
				fmt.Fprintf(&b, " at %q/%q", r.Key.Partition, r.Key.Row)
			}
			alike = 0
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Explain tells what op would do, without a request: [InsertOp] is Insert,
// [UpsertOp] is Put, [ReplaceOp] is PutItem, [DeleteOp] is Delete. What op replaces
// is not known here: it is taken to have the same views' rows at the same keys, and
// those of a delete are not listed. [Store.ExplainChange] knows both versions.
func (s *Store[T]) Explain(op Op[T]) (*Explanation, error) {
	switch op.kind {
	case wire.Insert:
		return s.ExplainChange(nil, op.value)
	case wire.Delete:
		x := &explainer{primary: op.key, Explanation: Explanation{Op: "delete"}}
		x.step(Before, "read the primary", 1)
		x.step(Atomic, "transaction", 1, StepRow{Action: "delete primary", Key: op.key}, StepRow{Action: "delete each row that follows from it", Key: op.key})
		return &x.Explanation, nil
	}
	e, err := s.ExplainChange(op.value, op.value)
	if err != nil || op.kind != wire.Replace {
		return e, err
	}
	e.Requests -= e.Steps[0].Requests
	e.Steps = e.Steps[1:]
	return e, nil
}

// ExplainChange tells what changing a primary from was to now takes, without a
// request: nil was is Insert, nil now is Delete, otherwise it is Put or Update. The
// forms that take an Item save the first read.
func (s *Store[T]) ExplainChange(was, now *T) (*Explanation, error) {
	some := now
	if some == nil {
		some = was
	}
	key, err := s.table.Key(some)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if was != nil && now != nil {
		before, err := s.table.Key(was)
		if err == nil && before != key {
			err = ErrKeyChanged
		}
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
	}
	old, err := s.views.derive(was, key)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	new, err := s.views.derive(now, key)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	op := "put"
	if was == nil {
		op = "insert"
	} else if now == nil {
		op = "delete"
	}
	local, remote := differ(key, old, new, func(string) bool { return true }, was != nil && was == now)
	if was == now {
		for i := range local {
			local[i].mend = true
		}
	}
	v := &version[T]{local: localRows(local), remote: remote}
	return s.explain(op, key, was != nil, v), nil
}

// explainer builds an Explanation.
type explainer struct {
	Explanation
	primary keys.Key
}

func (x *explainer) step(when When, title string, requests int, rows ...StepRow) {
	x.Steps = append(x.Steps, Step{Title: title, Requests: requests, When: when, Rows: rows})
	x.Requests += requests
	if when != Before {
		for _, r := range rows {
			if !strings.HasPrefix(r.Action, "read") {
				x.Entities++
			}
		}
	}
}
