package types

import "time"

// ViewState is what the table records about the state of a view.
//
// Backfill of package reindex records it. The documentation of that package describes how a view
// is added, changed and removed while programs of two versions run. The state does not depend on
// Building of patterns.StoreOptions, which is an option of each program.
type ViewState struct {
	View string // its name

	// State is patterns.ViewBuilding, ViewReady, ViewRetiring, or "" if the table has no record,
	// so it is unknown whether all entities have their rows.
	State string

	// Since is when the state was recorded, by the clock of the service. It is zero if there
	// is no record.
	Since time.Time

	// OtherDefinition means that the state is that of another definition of the view, under
	// the same name; see Version of patterns.Shape.
	OtherDefinition bool
}
