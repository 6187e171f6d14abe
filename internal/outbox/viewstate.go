package outbox

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// The states of a view that the table records.
const (
	ViewBuilding = "building"
	ViewReady    = "ready"
	ViewRetiring = "retiring"
)

// stateRow records the state of a view, at "~azp_view_<name>" in the partition "~azp" of the
// primaries' table.
type stateRow struct {
	State string `table:"azp_state,reserved"`
	Views string `table:"azp_views,reserved"` // the view.Listing of this view alone
}

const (
	statePartition = view.ReservedRow
	stateRowPrefix = view.ReservedRow + "_view_"
)

func stateTable(c *wire.Client) (*txn.Table, error) {
	codec, err := edm.CodecFor(reflect.TypeFor[stateRow]())
	return &txn.Table{Client: c, Codec: codec, Zero: func() any { return new(stateRow) }}, err
}

// ViewStates returns the recorded states of the Store's views, then of those that are gone.
// One request.
func (s *Store) ViewStates(ctx context.Context) ([]types.ViewState, error) {
	stored := map[string]fetch.Entry{}
	f := query.And(query.PartitionKey.Eq(statePartition), query.RowKey.Prefix(stateRowPrefix))
	for row, err := range fetch.Properties(ctx, s.Table.Client, f, nil) {
		if err != nil {
			return nil, fmt.Errorf("states of views: %w", err)
		}
		stored[row.Key.Row[len(stateRowPrefix):]] = row
	}
	var states []types.ViewState
	for _, name := range s.Views.Names() {
		row := stored[name]
		differs := s.Views.CheckView(view.Listing(row.Text(view.PropViews)), name) != nil
		states = append(states, types.ViewState{View: name, State: row.Text(view.PropState), Since: row.Timestamp, OtherDefinition: differs})
	}
	return states, nil
}

// SetViewState records the state of a view; "" removes the record. Package patterns
// documents it.
func (s *Store) SetViewState(ctx context.Context, name, state string) error {
	for try := 1; ; try++ {
		again, err := s.trySetViewState(ctx, name, state)
		if err != nil {
			err = fmt.Errorf("state of a view: %w", err)
		}
		if !again || try >= s.Tries {
			return err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return err
		}
	}
}

// MaySetViewState fails if SetViewState would, as the table is now. One request.
func (s *Store) MaySetViewState(ctx context.Context, name, state string) error {
	_, _, err := s.changeOfState(ctx, name, state)
	if err != nil {
		err = fmt.Errorf("state of a view: %w", err)
	}
	return err
}

// trySetViewState reads the record and changes it on condition that it is unchanged. again
// allows another attempt.
func (s *Store) trySetViewState(ctx context.Context, name, state string) (again bool, err error) {
	op, needed, err := s.changeOfState(ctx, name, state)
	if err != nil || !needed {
		return false, err
	}
	_, err = s.states.Do(ctx, op)
	for _, changed := range []error{azerr.ErrExists, azerr.ErrNotFound, azerr.ErrConflict, azerr.ErrOutcomeUnknown} {
		again = again || errors.Is(err, changed)
	}
	return again && ctx.Err() == nil, err
}

// changeOfState reads the record and returns how to change it. needed is false if it is as wanted.
func (s *Store) changeOfState(ctx context.Context, name, state string) (op *txn.Op, needed bool, err error) {
	if err := s.mayRecord(name, state); err != nil {
		return nil, false, err
	}
	key := keys.Key{Partition: statePartition, Row: stateRowPrefix + name}
	op = &txn.Op{Kind: wire.Replace, Key: key}
	var now stateRow
	switch r, err := s.states.Get(ctx, key); {
	case errors.Is(err, azerr.ErrNotFound):
		op.Kind = wire.Insert
		op.At(key)
	case err != nil:
		return nil, false, err
	default:
		now, op.ETag = *r.Value.(*stateRow), r.ETag
	}
	if err := s.Views.CheckView(view.Listing(now.Views), name); err != nil {
		return nil, false, err
	}
	next := stateRow{state, string(s.Views.Entry(name))}
	switch {
	case now.State == ViewRetiring && (state == ViewBuilding || state == ViewReady):
		return nil, false, &types.ViewError{View: name, Err: fmt.Errorf("%w: it is being removed", azerr.ErrConflict)}
	case now.State == state && (state == "" || now == next):
		return nil, false, nil
	case state == "":
		op.Kind = wire.Delete
	default:
		op.Value = &next
	}
	return op, true, nil
}

// mayRecord fails if the Store cannot bring about the state.
func (s *Store) mayRecord(name, state string) error {
	if _, err := s.Views.View(name); err != nil && !s.Views.Gone(name) {
		return err
	}
	full := s.Views.Adds(name, "")
	switch {
	case state == "":
	case state != ViewBuilding && state != ViewReady && state != ViewRetiring:
		return view.BadView(name, "the state is not building, ready or retiring")
	case state != ViewRetiring && !full:
		return view.BadView(name, "it is in StoreOptions.Building or Retired, so the store does not add its rows")
	case state == ViewRetiring && !s.Views.IsRetired(name):
		return view.BadView(name, "it is not in StoreOptions.Retired")
	}
	return nil
}
