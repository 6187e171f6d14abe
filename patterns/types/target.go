package types

import "github.com/azpatterns/azpatterns/internal/azerr"

// Target contains the rows of a view that are not in the primary's own table. Make it with
// patterns.TableTarget; package indexentity has one for blobs. Only this module can
// implement it. A Target is safe for concurrent use.
type Target interface {
	// ID identifies the target: targets with the same ID contain the same rows. It is not "".
	ID() string

	// Module is for this module only: no other package can name the type of its argument.
	Module(azerr.Module)
}
