package patterns

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns/types"
)

type (
	// Explanation is how a [Store] carries out an operation if nothing fails and no other client
	// interferes. Print it: it reads like a database's EXPLAIN. The verb %+v also prints the rows' keys.
	Explanation = types.Explanation

	// Step is a part of an operation. It begins when the step before it has ended.
	Step = types.Step

	// StepRow is a row that a step reads or writes.
	StepRow = types.StepRow

	// When is how a step relates to the change of the primary: [Before], [Atomic] or [Eventual].
	When = types.When

	// PlanError is an operation that was refused because its transaction would exceed a limit.
	// Nothing was written. It has the plan.
	PlanError = types.PlanError
)

const (
	Before   = types.Before   // executed first; it changes no entity
	Atomic   = types.Atomic   // one transaction: all of it is applied or nothing
	Eventual = types.Eventual // executed immediately afterwards; after a crash, by a worker
)

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
	return s.engine.Explain(q)
}
