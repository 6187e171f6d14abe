package types

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

// Explanation is how a Store carries out an operation if nothing fails and no other
// client interferes. Print it: it reads like a database's EXPLAIN. The verb %+v also
// prints the rows' keys.
type Explanation struct {
	Op    string // "insert", "put", "update", "delete" or "repair"
	Steps []Step // in order

	// Requests made by the steps. Each is billed as one transaction, and so is an entity
	// group transaction.
	Requests int

	// RoundTrips is how many times the operation waits for a request or for several concurrent
	// ones, if all of them take equally long. It depends on StoreOptions.Parallel. For the Plan
	// of a [PlanError] of several entities the rows of all are counted like those of one.
	RoundTrips int

	// Entities written by the steps. The scalability targets count these, and the reads.
	Entities int
}

// Step is a part of an operation. It begins when the step before it has ended.
type Step struct {
	Title      string
	Requests   int
	RoundTrips int // as those of the Explanation
	When       When
	Rows       []StepRow // what it reads or writes, if that are rows
}

// When is how a step relates to the change of the primary.
type When int

const (
	Before   When = iota // executed first; it changes no entity
	Atomic               // one transaction: all of it is applied or nothing
	Eventual             // executed immediately afterwards; after a crash, by a worker
)

// String returns "before", "atomic" or "eventual".
func (w When) String() string {
	switch w {
	case Before:
		return "before"
	case Atomic:
		return "atomic"
	case Eventual:
		return "eventual"
	}
	return fmt.Sprintf("When(%d)", int(w))
}

// StepRow is a row that a step reads or writes.
type StepRow struct {
	View   string // "" for the primary and for the Store's own rows
	Action string // "insert copy", "read list", …
	Key    keys.Key
}

// String returns the plan as text, without keys.
func (e *Explanation) String() string { return e.text(false) }

// Format adds the keys for %+v only.
func (e *Explanation) Format(f fmt.State, verb rune) {
	io.WriteString(f, e.text(verb == 'v' && f.Flag('+')))
}

// LogValue keeps the keys out of logs: [slog.TextHandler] formats with %+v.
func (e *Explanation) LogValue() slog.Value { return slog.StringValue(e.String()) }

func (e *Explanation) text(withKeys bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s, %s written\n", e.Op, count(e.Requests, "transaction"), count(e.RoundTrips, "round trip"), count(e.Entities, "entity"))
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%d. %-8s  %s: %s", i+1, s.When, s.Title, count(s.Requests, "request"))
		if s.RoundTrips > 1 {
			fmt.Fprintf(&b, " in %s", count(s.RoundTrips, "round trip"))
		}
		b.WriteByte('\n')
		equal := 0
		for j, r := range s.Rows {
			if equal++; !withKeys && j+1 < len(s.Rows) && s.Rows[j+1].Action == r.Action && s.Rows[j+1].View == r.View {
				continue
			}
			fmt.Fprintf(&b, "             %s", r.Action)
			if r.View != "" {
				fmt.Fprintf(&b, " of %s", r.View)
			}
			if equal > 1 && !withKeys {
				fmt.Fprintf(&b, ", %d times", equal)
			}
			if withKeys {
				fmt.Fprintf(&b, " at %q/%q", r.Key.Partition, r.Key.Row)
			}
			equal = 0
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// PlanError is an operation that was refused because its transaction would exceed a
// limit. Nothing was written.
type PlanError struct {
	Plan *Explanation
	Err  error
}

func (e *PlanError) Error() string { return fmt.Sprintf("%v; the plan was\n%v", e.Err, e.Plan) }
func (e *PlanError) Unwrap() error { return e.Err }
