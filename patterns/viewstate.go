package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// ViewState is what the table records about the state of a view: [ViewBuilding], [ViewReady],
// [ViewRetiring], or nothing.
type ViewState = types.ViewState

// The states of a view.
const (
	ViewBuilding = outbox.ViewBuilding // some entities may not have their rows yet
	ViewReady    = outbox.ViewReady    // all entities have their rows
	ViewRetiring = outbox.ViewRetiring // some entities may no longer have their rows
)

// ViewStates returns the states of the views of the Store, in the order of
// [StoreOptions.Views], followed by those of retired views that are not in Views. The states
// are what [Store.SetViewState] has recorded; ViewStates does not check any rows. One request.
func (s *Store[T]) ViewStates(ctx context.Context) ([]ViewState, error) {
	return s.engine.ViewStates(ctx)
}

// SetViewState records the state of a view in the table, in a row with the partition key
// "~azp"; the state "" removes the record. Programs that change all entities to add or remove
// a view call it: with [ViewBuilding] or [ViewRetiring] before they begin, and with
// [ViewReady] or "" after they have changed all entities. SetViewState does not change any
// entity.
//
// [ErrBadView] if the Store does not have the view, if the view is building or retired and
// state is ViewBuilding or ViewReady, or if it is not retired and state is ViewRetiring.
// [*ViewMismatchError] if the state of another definition is recorded. [ErrConflict] if the
// recorded state is ViewRetiring and the view is to be added: finish the removal first. In
// these cases nothing is changed.
//
// Two requests, one if nothing changes, and two more for each conflict with another client.
// The change is conditional on the record that was read.
func (s *Store[T]) SetViewState(ctx context.Context, view, state string) error {
	return s.engine.SetViewState(ctx, view, state)
}
