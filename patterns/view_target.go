package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/keys"
)

// Target is where the rows of a view stand when that is not the primary's own
// table: another table, also of another account ([TableTarget]), or anything else
// that can be changed under a condition, such as a blob.
type Target interface {
	// ID names the target. Targets of one ID are one place; it is not "".
	ID() string

	// Reconcile makes what stands at c.Key agree with what c.Owner implies now:
	// c.Wanted or not. It must be idempotent; it must change the place only under a
	// condition on what it has read there, and read again where that fails; and it
	// must not touch what other primaries have there.
	Reconcile(ctx context.Context, c Claim) error
}

// Claim is what one primary implies, or no longer implies, at one place.
type Claim struct {
	View  string   // name of the view
	Kind  RowKind  // of the view's rows
	Key   keys.Key // the place
	Owner keys.Key // the primary's key

	// Wanted says that the primary implies the row now. If not, nothing of this
	// primary may be left at the place.
	Wanted bool

	// List is how the view's rows keep their members, as the view's Shape has it.
	List List

	op    string // the operation that is being drained
	body  []byte // of a wanted copy: the whole row
	merge Merged // of a wanted merge

	// free reports whether a row that another primary has is free to be taken.
	free func(context.Context, *takenError) (bool, error)
}
