package outbox

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// EngineOf returns the Store in a patterns.Store, nil if there is none. Package patterns
// sets it, so that its subpackages reach the engine without an exported method.
var EngineOf func(store any) *Store

// Find reads the primary at key, nil if there is none. It fails if the row at key is not a
// primary. One request.
func (s *Store) Find(ctx context.Context, key keys.Key) (*txn.Record, error) { return s.find(ctx, key) }

// TableOf returns the table of the remote rows of v. ok is false if its target is no table.
func (s *Store) TableOf(v *view.View) (t *view.Table, ok bool) { return s.tableOf(v) }

// Pending returns the remote rows of all operations on the primary that were applied and are
// not completed: these rows may be out of date. One request for each 1000 operations in the
// partition that have an outbox row.
func (s *Store) Pending(ctx context.Context, primary keys.Key) (map[view.RowRef]bool, error) {
	pending := map[view.RowRef]bool{}
	f := query.And(query.PartitionKey.Eq(primary.Partition), query.RowKey.Prefix(outboxPrefix))
	for e, err := range fetch.Properties(ctx, s.Table.Client, f, &fetch.Options{Select: []string{propFormat, view.PropState, view.PropOwnerRK, propRows}}) {
		if err != nil {
			return nil, err
		}
		if e.Text(view.PropState) != statePending || e.Text(view.PropOwnerRK) != primary.Row {
			continue
		}
		format, _ := e.Properties[propFormat].(int32)
		refs, err := (&outboxRow{Format: format, Places: e.Text(propRows)}).refs()
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			pending[ref] = true
		}
	}
	return pending, nil
}

// Requests returns how many requests RunAll takes for intents whose Was is Known, if no
// other client interferes. It makes none.
func (s *Store) Requests(ctx context.Context, ins []*Intent) (int, error) {
	t := s.newTransaction(ins)
	if err := t.plan(ctx); err != nil {
		return 0, err
	}
	return t.explain().Requests, nil
}
