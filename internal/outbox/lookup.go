package outbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// lookupWriter writes the lookup rows of a transaction, outside of it.
type lookupWriter interface {
	// before finds the rows of the version that op changes, with the views that may have any.
	before(op *operation, views *view.Set) error

	// after names the rows of the new version in op's origin. New ones get the id of the attempt.
	after(op *operation) error

	// put stores the rows that the attempt adds, if they are not stored yet.
	put(ctx context.Context) error

	// send sends the transaction, after the rows were put.
	send(ctx context.Context, changes []txn.Change, request sender) ([]string, error)

	// repeats reports whether an attempt whose outcome is unknown is repeated.
	repeats() bool

	// end removes the rows that no version names any more, after the transaction was applied, or has failed.
	end(ctx context.Context, applied bool)

	// suppose plans an operation that changes one version into another, for [Store.Explain].
	suppose(op *operation, was, now any) error

	// explain lists the steps of the transaction, and those of the rows.
	explain(x *explanation, outbox []*operation, transaction func([]*operation))
}

// sender sends the changes of a transaction and returns their ETags.
type sender = func(context.Context, []txn.Change) ([]string, error)

// noLookups is the lookupWriter of a Store without views of kind [types.Lookups].
type noLookups struct{}

func (noLookups) before(*operation, *view.Set) error { return nil }
func (noLookups) after(*operation) error             { return nil }
func (noLookups) put(context.Context) error          { return nil }
func (noLookups) repeats() bool                      { return false }
func (noLookups) end(context.Context, bool)          {}
func (noLookups) suppose(*operation, any, any) error { return nil }
func (noLookups) send(ctx context.Context, changes []txn.Change, request sender) ([]string, error) {
	return request(ctx, changes)
}

func (noLookups) explain(_ *explanation, outbox []*operation, transaction func([]*operation)) {
	transaction(outbox)
}

// lookups is the lookupWriter of other Stores. README.md has the rules L1 to L7.
type lookups struct {
	t    *transaction
	at   time.Time // just before the first row with the present ids was sent
	open bool      // an attempt with the present ids may have been applied
	lost bool      // an attempt with earlier ids may have been applied
	once bool      // the last attempt had no condition, and was sent once
	redo bool      // the last put failed
}

func newLookups(t *transaction) lookupWriter { return &lookups{t: t} }

// lookupRows are the lookup rows of an operation.
type lookupRows struct {
	ids    []string      // of the rows that it adds: the last one is that of the attempt
	old    []view.Lookup // of the version that is changed
	new    []view.Lookup // of the new one
	added  []view.Lookup // of new: those that old has not
	stored []view.Lookup // with the present id
	former []view.Lookup // with earlier ids, which no version can name
}

// outdated returns the rows that the new version does not name, except those of old that a sweep may have moved, to which it leaves them.
func (r *lookupRows) outdated() []view.Lookup {
	return slices.DeleteFunc(slices.Concat(r.old, r.stored), func(row view.Lookup) bool {
		return slices.Contains(r.new, row) || row.View.Expiring != nil && slices.Contains(r.old, row)
	})
}

// begin drops the ids of the last attempt if one with them may have been applied, or may be sent too
// late: rules L1 and L4. In the first case their rows are left to a sweep.
func (l *lookups) begin() {
	expires := !l.at.IsZero() && calls.Elapsed(l.at) >= l.t.store.limit()/2
	for _, op := range l.t.ops {
		r := &op.lookups
		if len(r.ids) > 0 && !l.open && !expires {
			continue
		}
		if r.ids = append(r.ids, txn.NewID()); !l.open {
			r.former = append(r.former, r.stored...)
		}
		r.stored = nil
	}
	if l.open || expires {
		l.at, l.open, l.lost = time.Time{}, false, l.lost || l.open
	}
}

func (l *lookups) before(op *operation, views *view.Set) (err error) {
	if op.index == 0 {
		l.begin()
	}
	r := &op.lookups
	r.old, r.new, r.added = nil, nil, nil
	if op.was == nil || op.Rows != nil {
		return nil
	}
	r.old, err = views.Lookups(op.was.Value, op.Key, view.LookupsOf(unknownOf(op.was.Origin)))
	r.old = slices.DeleteFunc(r.old, func(row view.Lookup) bool { return row.ID == "" })
	return err
}

func (l *lookups) after(op *operation) (err error) {
	r := &op.lookups
	if r.new, err = op.views.Lookups(op.now, op.Key, view.LookupsOf(&op.origin.Unknown)); err != nil {
		return err
	}
	for i := range r.new {
		// A row that is named may be missing; that of an earlier time would be found too late.
		if row := &r.new[i]; row.ID == "" || op.Repair || row.View.Expiring != nil && !row.Kept(r.old) {
			row.ID = r.ids[len(r.ids)-1]
			r.added = append(r.added, *row)
		}
	}
	op.origin.Unknown = view.WithLookups(&op.origin.Unknown, r.new)
	return nil
}

// stampsWith returns the function for the stamps of a row. They include id if the row names a lookup row
// with one of ids: no other write than that of this operation names one first.
func stampsWith(id string, ids []string) func(body []byte) (string, error) {
	return func(body []byte) (string, error) {
		properties, _, err := edm.ReadProperties(body)
		if err != nil {
			return "", err
		}
		stamps, err := edm.Stamps(body)
		named, _ := properties[view.PropLookups].(string)
		if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(named, id) }) {
			stamps = txn.AddStamp(id, stamps)
		}
		return stamps, err
	}
}

// put stores the rows that are not stored yet, those of a partition in one request. They are stored
// whether they exist or not, so that a repeated request does not fail. A late one stores a row that no
// primary names.
func (l *lookups) put(ctx context.Context) (err error) {
	var rows []LookupRow
	for _, op := range l.t.ops {
		r := &op.lookups
		for _, row := range r.added {
			known := slices.Contains(r.stored, row)
			if !known {
				r.stored = append(r.stored, row)
			}
			if !known || l.redo {
				rows = append(rows, LookupRow{Lookup: row, Primary: op.Key})
			}
		}
	}
	if len(rows) > 0 && l.at.IsZero() {
		l.at = time.Now()
	}
	l.t.store.writeLookups(untracked(ctx), rows, func(i int) *txn.Op { return rows[i].Put(rows[i].Primary) }, func(_ int, e error) { err = e })
	l.redo = err != nil
	var e *types.Error
	if errors.As(err, &e) && e.Unsure { // of the row: the transaction is not sent
		certain := *e
		if certain.Unsure, certain.Unanswered = false, false; certain.Kind == azerr.ErrOutcomeUnknown {
			certain.Kind = nil
		}
		err = &certain
	}
	if err != nil {
		err = fmt.Errorf("%s: lookup row: %w", l.t.name(), err)
	}
	return err
}

// send enforces rules L1 and L4. A transaction that only inserts could be applied a second time, after
// its entities were deleted with their lookup rows. So it is sent once, unless the service refuses it
// because of load.
func (l *lookups) send(ctx context.Context, changes []txn.Change, request sender) ([]string, error) {
	if err := l.put(ctx); err != nil {
		return nil, err
	}
	if l.once = false; l.at.IsZero() {
		return request(ctx, changes)
	}
	left := l.t.store.limit() - calls.Elapsed(l.at)
	if left <= 0 { // the process may have been suspended
		return nil, &retryable{errSlow}
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if l.once = !slices.ContainsFunc(changes, func(c txn.Change) bool { return c.Kind >= wire.Merge && c.ETag != "*" }); l.once {
		ctx = policy.WithRetryOptions(ctx, policy.RetryOptions{ShouldRetry: func(resp *http.Response, err error) bool {
			return err == nil && (resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests)
		}})
	}
	primaries := changes[:len(l.t.changed)]
	for i, op := range l.t.changed {
		if r := &op.lookups; len(r.added) > 0 {
			if primaries[i].ID == "" {
				primaries[i].ID = r.ids[0]
			}
			primaries[i].Stamps = stampsWith(primaries[i].ID, r.ids)
		}
	}
	etags, err := request(ctx, changes)
	_, e := failedChange(err)
	switch {
	case e == nil:
	case e.Unsure:
		l.open = true
	case l.lost && l.t.state == nil: // by its own earlier attempt, perhaps
		unsure := *e
		unsure.Unsure, unsure.Unanswered = true, true
		if etags, rerr := txn.Resolve(ctx, l.t.store.Table.Client, primaries, &unsure); rerr == nil {
			return etags, nil
		}
	}
	return etags, err
}

func (l *lookups) repeats() bool { return l.once }

// end enforces rule L6. If an earlier attempt may have been applied, with other ids than the last one, the present version may name the rows
// that the last one has read: all are left to a sweep.
func (l *lookups) end(ctx context.Context, applied bool) {
	var rows []LookupRow
	for _, op := range l.t.ops {
		r := &op.lookups
		gone := r.former
		switch {
		case applied && !l.lost:
			gone = append(gone, r.outdated()...)
		case !applied && !l.open:
			gone = append(gone, r.stored...)
		}
		for _, row := range gone {
			rows = append(rows, LookupRow{Lookup: row})
		}
	}
	if l.t.store.retain != nil {
		l.t.store.retain(rows)
		return
	}
	l.t.store.RemoveLookups(untracked(ctx), rows, func(int, error) {}) // a row that stays is left to a sweep
}

// untracked returns a context for writes of lookup rows: one without a reply concerns no row of the outbox.
func untracked(ctx context.Context) context.Context {
	return calls.Track(ctx, new(calls.Unanswered))
}

func (l *lookups) suppose(op *operation, was, now any) (err error) {
	r, views := &op.lookups, l.t.store.Views.After("")
	if r.old, err = views.Lookups(was, op.Key, ""); err != nil {
		return err
	}
	if r.new, err = views.Lookups(now, op.Key, ""); err != nil {
		return err
	}
	r.added = slices.DeleteFunc(slices.Clone(r.new), func(row view.Lookup) bool { return row.Kept(r.old) })
	return nil
}

// sweepLater is a step that the operation does not make. Package expiry has a test of the figures.
const sweepLater = "later, when it has expired, a sweep deletes it: 2.1 requests, or 0.3 if 50 of its partition expire together. " +
	"If all entities live equally long, package highvolumedelete drops a whole period with one"

func (l *lookups) explain(x *explanation, outbox []*operation, transaction func([]*operation)) {
	var added, removed []view.Lookup
	for _, op := range l.t.ops {
		added, removed = append(added, op.lookups.added...), append(removed, op.lookups.outdated()...)
	}
	if requests, rows := l.steps("insert lookup row", added); requests > 0 {
		trips := (requests + x.limit - 1) / x.limit
		if len(outbox) > 0 { // next to the message
			trips = 0
		}
		x.steps(types.Before, "insert lookup rows", requests, trips, rows...)
	}
	transaction(outbox)
	if requests, rows := l.steps("delete lookup row", removed); requests > 0 {
		x.step(types.Eventual, "delete lookup rows", requests, rows...)
	}
	if slices.ContainsFunc(added, func(row view.Lookup) bool { return row.View.Expiring != nil }) {
		x.step(types.Eventual, sweepLater, 0)
	}
}

// steps returns the steps that write rows, and how many requests they take together.
func (l *lookups) steps(action string, rows []view.Lookup) (requests int, steps []types.StepRow) {
	in := map[place]int{}
	for _, row := range rows {
		table, _ := l.t.store.tableOf(row.View)
		at := place{table: table, partition: row.Key.Partition}
		if in[at]%wire.MaxBatchOps == 0 {
			requests++
		}
		in[at]++
		steps = append(steps, types.StepRow{View: row.View.Name, Action: action, Key: row.Key})
	}
	return requests, steps
}
