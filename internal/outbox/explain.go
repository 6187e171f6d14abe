package outbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// tooLarge adds the plan to the error of a transaction.
func (t *transaction) tooLarge(err error) error {
	plan := t.explain()
	return fmt.Errorf("%s: %w", plan.Op, &types.PlanError{Plan: plan, Err: err})
}

// explanation is an Explanation in the making.
type explanation struct {
	types.Explanation
	limit int // requests in flight
}

// Question is an operation to explain.
type Question struct {
	Op       string
	Key      keys.Key // of a delete; otherwise that of Now
	Was, Now any      // the versions of the entity; nil: there is none

	// Next, if not nil, returns Now. It may change what Was refers to.
	Next func() (any, error)

	// Read means that the operation reads the primary first.
	Read bool

	// Assume means that Was is not known. It is assumed to exist, and to imply rows at the
	// same keys as Now, with other properties.
	Assume bool
}

// Explain returns how the operation is carried out. It makes no request. An error of q.Next is
// returned as it is.
func (s *Store) Explain(q *Question) (*types.Explanation, error) {
	op := &operation{Intent: &Intent{Op: q.Op, Key: q.Key, Known: !q.Read}}
	if q.Was != nil || q.Assume {
		op.was = &txn.Record{Value: q.Was}
	}
	was, err := s.rowsOfVersion(op, q.Was)
	if err != nil {
		return nil, err
	}
	if op.now = q.Now; q.Next != nil {
		if op.now, err = q.Next(); err != nil {
			return nil, err
		}
	}
	now, err := s.rowsOfVersion(op, op.now)
	if err != nil {
		return nil, err
	}
	if q.Assume {
		was = now
	}
	local, remote := view.Differences(op.Key, was, now, func(string) bool { return true }, q.Assume)
	if q.Assume { // a membership has no properties
		isMember := func(d view.Diff) bool { return d.View.Shape.Kind == types.Members }
		local, remote = slices.DeleteFunc(local, isMember), slices.DeleteFunc(remote, isMember)
	}
	op.remote = remote
	t := &transaction{store: s, ops: []*operation{op}}
	if op.was != nil || op.now != nil {
		t.changed = t.ops
	}
	before := q.Was
	if q.Assume {
		before = op.now
	}
	t.lookups, t.journal = s.lookups(t), s.record(op.Key.Partition)
	if err := t.lookups.suppose(op, before, op.now); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if t.local, err = view.LocalRows(local); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return t.explain(), nil
}

// rowsOfVersion returns the rows derived from a version of the entity of op, and sets the key of op.
func (s *Store) rowsOfVersion(op *operation, version any) ([]view.Derived, error) {
	if version == nil {
		return nil, nil
	}
	key, err := s.Table.KeyOf(version)
	if err == nil && op.Key != (keys.Key{}) && key != op.Key {
		err = azerr.ErrKeyChanged
	}
	var rows []view.Derived
	if err == nil {
		op.Key = key
		rows, err = s.Views.After("").Derive(version, key, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return rows, nil
}

// step adds a step of independent requests.
func (x *explanation) step(when types.When, title string, requests int, rows ...types.StepRow) {
	x.steps(when, title, requests, (requests+x.limit-1)/x.limit, rows...)
}

func (x *explanation) steps(when types.When, title string, requests, trips int, rows ...types.StepRow) {
	x.Steps = append(x.Steps, types.Step{Title: title, Requests: requests, RoundTrips: trips, When: when, Rows: rows})
	x.Requests += requests
	x.RoundTrips += trips
	if when != types.Before {
		for _, r := range rows {
			if !strings.HasPrefix(r.Action, "read") {
				x.Entities++
			}
		}
	}
}

// explain lists the steps of the transaction.
func (t *transaction) explain() *types.Explanation {
	x := &explanation{Explanation: types.Explanation{Op: t.name()}, limit: t.store.Parallel}
	var read []types.StepRow
	var remote []view.Diff
	for _, op := range t.ops {
		if !op.Known {
			read = append(read, types.StepRow{Action: "read primary", Key: op.Key})
		}
		remote = append(remote, op.remote...)
	}
	if len(read) > 0 {
		x.step(types.Before, "read", len(read), read...)
	}
	if t.changesNothing() {
		return &x.Explanation // there is nothing to delete
	}
	var taken []types.StepRow
	for _, d := range t.taken() {
		taken = append(taken, types.StepRow{View: d.View.Name, Action: "check copy", Key: d.Key})
	}
	if len(taken) > 0 {
		x.steps(types.Before, "check that no other entity has the value", len(taken), len(taken), taken...)
	}
	if !t.repairsRows() {
		x.readLocal(t)
	}
	outbox := t.needOutbox()
	if len(outbox) > 0 {
		x.prepare(t, remote)
	}
	t.lookups.explain(x, outbox, func(outbox []*operation) { x.transaction(t, outbox) })
	if t.store.Later && len(outbox) > 0 {
		var rows []types.StepRow
		for i := range remote {
			rows = append(rows, writeOf(&remote[i]))
		}
		x.step(types.Eventual, "a worker does the rest", 0, rows...)
		return &x.Explanation
	}
	unchecked := 0
	if len(remote) > 0 {
		unchecked = x.drain(t, remote)
	}
	if t.store.Finisher != nil && !t.repairsRows() && len(outbox) > 0 {
		x.steps(types.Eventual, "after the call, at most, the Finisher checks that the primary is unchanged, and deletes the outbox row and the message", min(unchecked, 1)+2, 0)
		return &x.Explanation
	}
	if unchecked > 0 {
		x.step(types.Eventual, "check that the primary is unchanged", unchecked)
	}
	switch len(outbox) {
	case 0:
		return &x.Explanation
	case 1:
		x.step(types.Eventual, "delete the outbox row", 1)
	default:
		x.step(types.Eventual, "delete the outbox rows", 1)
	}
	x.step(types.Eventual, "delete the message", 1)
	return &x.Explanation
}

// readLocal lists the rows that are read in order to be changed.
func (x *explanation) readLocal(t *transaction) {
	var rows []types.StepRow
	for i := range t.local {
		if r := &t.local[i]; t.check || !r.Blind() {
			rows = append(rows, types.StepRow{View: r.Diffs[0].View.Name, Action: "read " + rowName(r.Diffs[0].View), Key: r.Key})
		}
	}
	if len(rows) > 0 {
		x.step(types.Before, "read what is to be changed", len(rows), rows...)
	}
}

// prepare lists what a writer does before a transaction with outbox rows.
func (x *explanation) prepare(t *transaction, remote []view.Diff) {
	title := "put a message in the outbox queue"
	var rows []types.StepRow
	for i := range remote {
		if d := &remote[i]; d.Unique() {
			rows = append(rows, types.StepRow{View: d.View.Name, Action: "reserve copy", Key: d.Key})
		}
	}
	if len(rows) > 0 {
		title += ", reserve unique rows"
	}
	slots := 1 + len(rows)
	if reads, read := t.reads(remote, false); len(reads) > 0 && !t.store.Later {
		title += ", read what is to be changed elsewhere"
		rows, slots = append(rows, reads...), slots+read
	}
	x.steps(types.Before, title, 1+len(rows), (slots+x.limit-1)/x.limit, rows...)
}

// reads returns the reads of remote rows, of repairs after the transaction and of other operations before it, and the number of
// rows, each of which is read together with its mark.
func (t *transaction) reads(remote []view.Diff, repairs bool) (reads []types.StepRow, rows int) {
	for i := range remote {
		d := &remote[i]
		if _, table := t.store.tableOf(d.View); !table || t.of(d.Primary).Repair != repairs || t.blind(d) {
			continue
		}
		row := types.StepRow{View: d.View.Name, Action: "read " + rowName(d.View), Key: d.Key}
		reads = append(reads, row)
		if rows++; d.View.Shape.Kind == types.Merges {
			row.Action = "read mark"
			reads = append(reads, row)
		}
	}
	return reads, rows
}

func (x *explanation) transaction(t *transaction, outbox []*operation) {
	var rows []types.StepRow
	for _, op := range t.changed {
		verb := "replace"
		switch {
		case op.was == nil:
			verb = "insert"
		case op.now == nil:
			verb = "delete"
		}
		rows = append(rows, types.StepRow{Action: verb + " primary", Key: op.Key})
	}
	for i := range t.local {
		d := &t.local[i].Diffs[0]
		rows = append(rows, types.StepRow{View: d.View.Name, Action: verbOf(d) + " " + rowName(d.View), Key: d.Key})
	}
	if v := t.store.Views.After("").Journal(); v != nil && t.journal != nil {
		rows = append(rows, t.journal.Steps(v, len(t.changed), func(i int) (keys.Key, any, any) {
			return t.changed[i].Key, valueOf(t.changed[i].was), t.changed[i].now
		})...)
	}
	for _, op := range outbox {
		rows = append(rows, types.StepRow{Action: "insert outbox row", Key: recordKey(op.Key.Partition, "…")})
	}
	noun := "rows"
	if len(rows) == 1 {
		noun = "row"
	}
	x.step(types.Atomic, fmt.Sprintf("transaction of %d %s", len(rows), noun), 1, rows...)
}

// drain lists what a writer does for the remote rows if no other client interferes. It returns how many primaries are read
// at the end.
func (x *explanation) drain(t *transaction, remote []view.Diff) int {
	reads, read := t.reads(remote, true)
	var writes []types.StepRow
	free := make([]int, x.limit)     // when the next write can begin, in round trips
	released := map[keys.Key]bool{}  // the primaries that are read after the rows
	unchecked := map[keys.Key]bool{} // the primaries of rows that were not reserved
	for i := range remote {
		d := &remote[i]
		op := t.of(d.Primary)
		took := 1
		if _, table := t.store.tableOf(d.View); !table && !t.blind(d) { // it is read immediately before it is written
			writes = append(writes, types.StepRow{View: d.View.Name, Action: fmt.Sprintf("read %s in %s", rowName(d.View), d.View.TargetID()), Key: d.Key})
			took = 2
		}
		writes = append(writes, writeOf(d))
		slices.Sort(free)
		free[0] += took
		if op.Repair && (op.was == nil || d.New == nil && d.View.Shape.Kind == types.Copies) {
			released[d.Primary] = true
		}
		if d.Repair || !d.Unique() {
			unchecked[d.Primary] = true
		}
	}
	if len(reads) > 0 {
		x.steps(types.Eventual, "read what is to be changed", len(reads), (read+x.limit-1)/x.limit, reads...)
	}
	if len(released) > 0 {
		x.step(types.Eventual, "read the primary, to release rows", len(released))
	}
	x.steps(types.Eventual, "write the rows elsewhere", len(writes), slices.Max(free), writes...)
	return len(unchecked)
}

// blind reports whether the row is written without reading it.
func (t *transaction) blind(d *view.Diff) bool {
	_, found := t.of(d.Primary).Found[d.Ref(d.View)]
	return found || d.View.Shape.Kind == types.Copies && !d.Repair && (d.Unique() || d.Old == nil)
}

// writeOf is the write of a remote row.
func writeOf(d *view.Diff) types.StepRow {
	return types.StepRow{View: d.View.Name, Action: verbOf(d) + " " + rowName(d.View), Key: d.Key}
}

// verbOf is what a change does to the row.
func verbOf(d *view.Diff) string {
	if d.View.Shape.Kind != types.Copies {
		return "change"
	}
	switch {
	case d.New == nil:
		return "delete"
	case d.Old == nil:
		return "insert"
	}
	return "replace"
}

func rowName(v *view.View) string {
	return [...]string{"copy", "list", "row merged into"}[v.Shape.Kind]
}
