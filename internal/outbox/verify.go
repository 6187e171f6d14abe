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
// sets it, so that packages beside it reach the engine without an exported method.
var EngineOf func(store any) *Store

// Find reads the primary at key, nil if there is none. It fails if the row at key is not a
// primary. One request.
func (s *Store) Find(ctx context.Context, key keys.Key) (*txn.Record, error) { return s.find(ctx, key) }

// TableOf returns the table of the remote rows of v. ok is false if its target is no table.
func (s *Store) TableOf(v *view.View) (t *view.Table, ok bool) { return s.tableOf(v) }

// Pending returns the remote rows of all operations on primaries of a partition that were
// applied and are not completed: these rows may be out of date. One request for each 1000
// operations that have an outbox row.
func (s *Store) Pending(ctx context.Context, partition string) (map[view.RowRef]bool, error) {
	pending := map[view.RowRef]bool{}
	f := query.And(query.PartitionKey.Eq(partition), query.RowKey.Prefix(outboxPrefix))
	for e, err := range fetch.Properties(ctx, s.Table.Client, f, &fetch.Options{Select: []string{propFormat, view.PropState, propRows}}) {
		if err != nil {
			return nil, err
		}
		if e.Text(view.PropState) != statePending {
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
