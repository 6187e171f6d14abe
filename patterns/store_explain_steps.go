package patterns

import (
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
)

// explain lists the steps of an operation.
func (s *Store[T]) explain(op string, key keys.Key, exists bool, v *version[T]) *Explanation {
	x := &explainer{primary: key, Explanation: Explanation{Op: op}}
	if exists {
		x.step(Before, "read", 1, StepRow{Action: "read primary", Key: key})
	}
	x.readLocal(v.local)
	if len(v.remote) > 0 {
		x.step(Before, "put a wake-up on the queue", 1)
		x.reserve(v.remote)
	}
	x.transaction(op, v.local, len(v.remote) > 0)
	if len(v.remote) > 0 {
		x.drain(s, v.remote)
	}
	return &x.Explanation
}

// readLocal lists the rows that are read to be changed.
func (x *explainer) readLocal(local []localRow) {
	var rows []StepRow
	for i := range local {
		if p := &local[i]; !p.blind() {
			rows = append(rows, StepRow{p.diffs[0].lens.name, "read " + rowName(p.diffs[0].lens), p.key})
		}
	}
	if len(rows) > 0 {
		x.step(Before, "read what is to be changed", len(rows), rows...)
	}
}

func (x *explainer) reserve(remote []difference) {
	var rows []StepRow
	for i := range remote {
		if d := &remote[i]; d.unique() {
			rows = append(rows, StepRow{d.lens.name, "reserve copy", d.key})
		}
	}
	if len(rows) > 0 {
		x.step(Before, "reserve unique rows", len(rows), rows...)
	}
}

func (x *explainer) transaction(op string, local []localRow, outbox bool) {
	verb := map[string]string{"insert": "insert", "delete": "delete"}[op]
	if verb == "" {
		verb = "replace"
	}
	rows := []StepRow{{Action: verb + " primary", Key: x.primary}}
	for i := range local {
		d := &local[i].diffs[0]
		rows = append(rows, StepRow{d.lens.name, d.verb() + " " + rowName(d.lens), d.key})
	}
	if outbox {
		rows = append(rows, StepRow{Action: "insert outbox row", Key: outboxKey(x.primary.Partition, "…")})
	}
	x.step(Atomic, "transaction of "+count(len(rows), "row"), 1, rows...)
}

// drain lists what a writer does that is not disturbed.
func (x *explainer) drain(s interface {
	tableOf(*lens) (*tableTarget, bool)
}, remote []difference) {
	var reads, writes []StepRow
	look := false
	for i := range remote {
		d := &remote[i]
		name := rowName(d.lens)
		row := StepRow{d.lens.name, d.verb() + " " + name, d.key}
		writes = append(writes, row)
		row.Action = "read " + name
		if _, table := s.tableOf(d.lens); !table {
			row.Action = fmt.Sprintf("read %s in %s", name, d.lens.targetID())
		}
		switch {
		case d.lens.shape.Kind == Copies && !d.mend && (d.unique() || d.old == nil):
		case d.lens.shape.Kind == Merges:
			mark := row
			mark.Action = "read mark"
			reads = append(reads, row, mark)
		default:
			reads = append(reads, row)
		}
		look = look || d.new == nil && d.old.row.copy.Unique && !d.mend
	}
	if len(reads) > 0 {
		x.step(Eventual, "read what is to be changed", len(reads), reads...)
	}
	if look {
		x.step(Eventual, "read the primary, to release unique rows", 1)
	}
	x.step(Eventual, "write the rows elsewhere", len(writes), writes...)
	x.step(Eventual, "see that the primary is unchanged", 1)
	x.step(Eventual, "delete outbox row and wake-up", 2)
}

// verb is what a change does to the row.
func (d *difference) verb() string {
	if d.lens.shape.Kind != Copies {
		return "change"
	}
	switch {
	case d.new == nil:
		return "delete"
	case d.old == nil:
		return "insert"
	}
	return "replace"
}

func rowName(l *lens) string {
	return [...]string{"copy", "list", "row merged into"}[l.shape.Kind]
}

// PlanError is an operation refused because its transaction would be over a limit.
// Nothing was written.
type PlanError struct {
	Plan *Explanation
	err  error
}

func (e *PlanError) Error() string { return fmt.Sprintf("%v; the plan was\n%v", e.err, e.Plan) }
func (e *PlanError) Unwrap() error { return e.err }

// tooLarge adds the plan to what is wrong with a transaction.
func (op *operation[T]) tooLarge(err error, v *version[T]) error {
	return fmt.Errorf("%s: %w", op.what, &PlanError{op.store.explain(op.what, op.key, v.was != nil, v), err})
}
