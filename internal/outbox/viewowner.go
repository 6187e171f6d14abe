package outbox

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// A table that is the target of a view has a row "~azp_owner_<name>" in the partition "~azp",
// which names the table of the view's primaries. The rows of two Stores with a view of the same
// name could not be distinguished there: equal keys of primaries would share rows, and a sweep would
// look for the operations of the other Store in its own table, and release their reservations, and so
// would a worker. So Create, a worker, a sweep and a run of package reindex read the row before they
// change anything; other operations would take a request more for it.
const (
	viewOwnerPrefix = view.ReservedRow + "_owner_"
	propTable       = "azp_table" // the name of the primaries' table; accounts may differ
)

// ownership is what a Store knows of its views' owner rows.
type ownership struct {
	known atomic.Bool   // all views are those of this Store
	turn  chan struct{} // of capacity 1: contains a value while a call reads or inserts the rows
}

// Own fails with [azerr.ErrBadView] if a table of the Store's views has rows of a view of the same
// name whose primaries are in another table. insert records this Store as the owner of views
// that have none.
//
// It makes no request once it has found, or recorded, that all views are its own: one for each
// table of views until then, one for each view that it records, and one if the Store has made no
// request to the table of the primaries. Concurrent calls wait for each other.
func (s *Store) Own(ctx context.Context, insert bool) (requests int, err error) {
	if s.owner.known.Load() {
		return 0, nil
	}
	select {
	case s.owner.turn <- struct{}{}:
		defer func() { <-s.owner.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for try := 1; !s.owner.known.Load(); try++ {
		known, n, err := s.tryOwn(ctx, insert)
		if requests += n; err == nil && known {
			s.owner.known.Store(true)
		}
		if !errors.Is(err, view.ErrRaced) || try >= s.Tries {
			return requests, err
		}
	}
	return requests, nil
}

// tryOwn fails with [view.ErrRaced] if it has to be repeated. known reports whether all views have
// this Store as their owner.
func (s *Store) tryOwn(ctx context.Context, insert bool) (known bool, requests int, err error) {
	var tables []*view.RemoteTable
	for _, v := range s.Views.Views {
		if t, ok := v.Shape.Target.(*view.RemoteTable); ok && indexOfTable(tables, t) < 0 {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return true, 0, nil
	}
	if _, named := s.Table.Client.Address(); named {
		requests = len(tables)
	} else {
		requests = len(tables) + 1
	}
	owners := make([]map[string]string, len(tables))
	var own string
	err = calls.Each(ctx, len(tables)+1, s.Parallel, func(ctx context.Context, i int) (err error) {
		if i == len(tables) {
			own, err = s.tableName(ctx)
		} else {
			owners[i], err = viewOwners(ctx, tables[i].Client)
		}
		return err
	})
	if err != nil {
		return false, requests, err
	}
	var unowned []*view.View
	for _, v := range s.Views.Views {
		t, ok := v.Shape.Target.(*view.RemoteTable)
		if !ok {
			continue
		}
		switch owner, owned := owners[indexOfTable(tables, t)][v.Name]; {
		case !owned:
			unowned = append(unowned, v)
		case !strings.EqualFold(owner, own):
			a, _ := t.Client.Address()
			return false, requests, view.BadView(v.Name, "in table %q it has rows of the entities in table %.63q, and this store's are in table %q: "+
				"it needs another name; if the entities have moved here, delete the row %q of partition %q", a.Table(), owner, own, viewOwnerPrefix+v.Name, statePartition)
		}
	}
	if !insert {
		return len(unowned) == 0, requests, nil
	}
	err = calls.Each(ctx, len(unowned), s.Parallel, func(ctx context.Context, i int) error {
		v := unowned[i]
		row := edm.Content{Properties: edm.Properties{propTable: own}}
		w, err := txn.OverWith(keys.Key{Partition: statePartition, Row: viewOwnerPrefix + v.Name}, txn.Row{}, row)
		if err != nil {
			return err
		}
		return v.Shape.Target.(*view.RemoteTable).Send(ctx, []*wire.Write{&w})
	})
	return err == nil, requests + len(unowned), err
}

func indexOfTable(tables []*view.RemoteTable, t *view.RemoteTable) int {
	for i, o := range tables {
		if o.ID() == t.ID() {
			return i
		}
	}
	return -1
}

// viewOwners returns the tables of the primaries of the views in a table, by the view's name.
func viewOwners(ctx context.Context, c *wire.Client) (map[string]string, error) {
	owners := map[string]string{}
	f := query.And(query.PartitionKey.Eq(statePartition), query.RowKey.Prefix(viewOwnerPrefix))
	for row, err := range fetch.Properties(ctx, c, f, nil) {
		if err != nil {
			return nil, err
		}
		owners[row.Key.Row[len(viewOwnerPrefix):]] = row.Text(propTable)
	}
	return owners, nil
}

// tableName returns the name of the primaries' table. One request if its client, which does not
// export the name, has made none.
func (s *Store) tableName(ctx context.Context) (string, error) {
	a, ok := s.Table.Client.Address()
	if !ok {
		if _, err := txn.ReadRow(ctx, s.Table.Client, keys.Key{Partition: statePartition, Row: statePartition}); err != nil {
			return "", err
		}
		a, _ = s.Table.Client.Address()
	}
	return a.Table(), nil
}
