package patterns

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/keys"
)

// Explanation is how a [Store] carries out an operation if nothing fails and no other
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

// Explain returns what op would do, without a request.
//
// stored is the version of the entity that is stored, nil if there is none. Without it, it is
// the version of [StoreOp.Was]. If op would fail because of it, Explain fails with the same
// error, [ErrExists] or [ErrNotFound]. Without both, a put is assumed to replace an entity
// that implies rows at the same keys, all of which have other properties. Of a delete the rows
// are then not known: Requests and Entities are those of an entity without derived rows. An
// update is refused with [ErrNil], because its function needs the stored version.
//
// Requests are those that are made if the rows that views merge properties into have their
// counters already; see [MergeSpec.Add]; and if no other entity has a value that the operation takes; see
// [CopySpec].Shared.
func (s *Store[T]) Explain(op StoreOp[T], stored ...*T) (*Explanation, error) {
	in, err := op.op.intent(s.engine)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	q := outbox.Question{Op: in.Op, Key: in.Key, Now: op.op.value, Read: !in.Known}
	known := len(stored) > 0 || op.op.was != nil || in.Op == opInsert
	switch {
	case len(stored) > 0:
		q.Was = pointer(stored[0])
	case op.op.was != nil:
		q.Was = op.op.was.Value
	}
	switch {
	case in.Op == opInsert && q.Was != nil:
		return nil, fmt.Errorf("insert: %w", ErrExists)
	case known && q.Was == nil && (in.Op == opUpdate || op.op.was != nil):
		return nil, fmt.Errorf("%s: %w", in.Op, ErrNotFound)
	case in.Op == opUpdate && !known:
		return nil, fmt.Errorf("explain: update: stored version: %w", ErrNil)
	case in.Op == opUpdate:
		if in.Spent != nil {
			in.Spent.Store(true)
		}
		q.Next = func() (any, error) { return op.op.changed(q.Was) }
	}
	q.Assume = !known
	return s.explain(&q)
}

// ExplainChange returns what changing a primary from was to now takes, without a
// request: nil was is Insert, nil now is Delete, otherwise it is Put or Update. The forms
// that take an Item save the first read.
func (s *Store[T]) ExplainChange(was, now *T) (*Explanation, error) {
	switch {
	case now != nil && was != nil:
		return s.Explain(PutEntity(now), was)
	case now != nil:
		return s.Explain(InsertEntity(now))
	case was == nil:
		return nil, fmt.Errorf("explain: value: %w", ErrNil)
	}
	return s.explain(&outbox.Question{Op: opDelete, Was: was, Read: true})
}

func (s *Store[T]) explain(q *outbox.Question) (*Explanation, error) {
	e, err := s.engine.Explain(q)
	if err != nil {
		return nil, err
	}
	return explanation(e), nil
}

// explanation returns the public form of e.
func explanation(e *outbox.Explanation) *Explanation {
	out := &Explanation{Op: e.Op, Requests: e.Requests, RoundTrips: e.RoundTrips, Entities: e.Entities}
	for _, s := range e.Steps {
		step := Step{Title: s.Title, Requests: s.Requests, RoundTrips: s.RoundTrips, When: When(s.When)}
		for _, r := range s.Rows {
			step.Rows = append(step.Rows, StepRow(r))
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// PlanError is an operation that was refused because its transaction would exceed a
// limit. Nothing was written.
type PlanError struct {
	Plan *Explanation
	Err  error
}

func (e *PlanError) Error() string { return fmt.Sprintf("%v; the plan was\n%v", e.Err, e.Plan) }
func (e *PlanError) Unwrap() error { return e.Err }

// withPlan turns the engine's error of a transaction that is too large into a PlanError.
func withPlan(err error) error {
	var e *outbox.TooLargeError
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w", e.Plan.Op, &PlanError{explanation(e.Plan), e.Err})
	}
	return err
}
