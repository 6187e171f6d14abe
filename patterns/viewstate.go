package patterns

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/outbox"
)

// ViewState is what the table records about the state of a view.
//
// # Adding a view
//
// Programs of two versions change entities while a new version is deployed. To add a view
// to a table that has rows, follow these steps. In each, programs of two consecutive versions
// can run at the same time, and neither fails because of the other. Wait until all programs
// run the new version before the next step.
//
//  1. Deploy a version that has the view in [StoreOptions.Views] and in
//     [StoreOptions.Building]. It does not add rows of the view.
//  2. Deploy a version in which the view is no longer building. It adds the rows of each
//     entity that it changes.
//  3. Wait until no request of an older version can still be on its way, at most half of
//     [StoreOptions.Expiry]. Then change every entity once; an update that modifies nothing
//     suffices. Until then unique rows are unique only among the entities that list the view.
//     The change of an entity whose unique row another entity has fails with a
//     [*DuplicateError]: correct the entity and continue.
//  4. Let programs read the view.
//
// # Removing a view
//
// Begin when all entities list the view, that is, after the last step above: the rows of an
// entity that no Store has changed since the view was added are left alone.
//
//  1. Stop reading the view.
//  2. Deploy a version that has the view in Views and in Building. It keeps the rows of
//     entities that have some. Skip this step if no two entities can compete for a row: if
//     the view has no unique rows and sets no properties of other rows.
//  3. Deploy a version that has the view in Views and in [StoreOptions.Retired]. It removes
//     the rows of each entity that it changes.
//  4. Wait as above, and change every entity once. Rows of counters stay, without the part of
//     any entity.
//  5. Wait until the outbox queue is empty. Then deploy a version without the view.
//
// If the code of the view no longer exists, name the view only in Retired. Then its rows
// stay, also of entities that are deleted, until they are removed by hand.
//
// # Changing a view
//
// Rows of an old definition are not rows of the new one. Add the new definition as another
// view, under a new name and with other row keys, let programs read that one, and remove the
// old view.
type ViewState struct {
	View string // its name

	// State is [ViewBuilding], [ViewReady], [ViewRetiring], or "" if the table has no record:
	// no program has called [Store.SetViewState], so it is unknown whether all entities have
	// their rows.
	State string

	// Since is when the state was recorded, by the clock of the service. It is zero if there
	// is no record.
	Since time.Time

	// OtherDefinition means that the state is that of another definition of the view, under
	// the same name; see [Shape.Version].
	OtherDefinition bool
}

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
	states, err := s.engine.ViewStates(ctx)
	if err != nil {
		return nil, err
	}
	public := make([]ViewState, len(states))
	for i, state := range states {
		public[i] = ViewState(state)
	}
	return public, nil
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
