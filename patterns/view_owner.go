package patterns

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// The properties that the Store adds to rows. Their names and forms are part of
// the stored format.
const (
	propOwnerPK = "azp_pk"     // on a copy: the primary's PartitionKey
	propOwnerRK = "azp_rk"     // on a copy: the primary's RowKey
	propView    = "azp_view"   // on a copy, a list, a counter's mark: the view
	propOp      = "azp_op"     // on a copy: the operation that holds it until it is drained
	propState   = "azp_state"  // on a copy: "reserved" if it holds its key only; on an outbox row: see outboxRow
	propMerged  = "azp_merged" // on a row merged into: who set what
	propViews   = "azp_views"  // on a primary: the views that its rows were kept for
)

const stateReserved = "reserved"

// Owner is what a copy says about itself.
type Owner struct {
	Primary keys.Key // the entity that it is a copy of
	View    string   // the view that it belongs to

	// Reserved says that the row only holds its key for an operation that is under
	// way, or that was given up. It has no other properties. To readers it is not
	// there.
	Reserved bool
}

// OwnerOf tells whose copy item is; ok is false if it is none. The item must have
// been read in full.
func OwnerOf[T any](item Item[T]) (owner Owner, ok bool) {
	if item.origin == nil {
		return Owner{}, false
	}
	rest := &item.origin.rest
	var pk, rk bool
	owner.Primary.Partition, pk = rest.Text(propOwnerPK)
	owner.Primary.Row, rk = rest.Text(propOwnerRK)
	owner.View, ok = rest.Text(propView)
	state, _ := rest.Text(propState)
	owner.Reserved = state == stateReserved
	if !pk || !rk || !ok {
		return Owner{}, false
	}
	return owner, true
}

// ownerRest is what marks a copy.
func ownerRest(primary keys.Key, view string) edm.Unknown {
	var r edm.Unknown
	r = r.WithText(propOwnerPK, primary.Partition)
	r = r.WithText(propOwnerRK, primary.Row)
	return r.WithText(propView, view)
}

// ownerProperties is the same for a row made of properties.
func ownerProperties(primary keys.Key, view string) edm.Properties {
	return edm.Properties{propOwnerPK: primary.Partition, propOwnerRK: primary.Row, propView: view}
}

// viewsOf are the views that a primary's rows were kept for when it was written
// last; the rows of others may be missing, or may be there by chance.
func viewsOf(o *origin) func(view string) bool {
	text := ""
	if o != nil {
		text, _ = o.rest.Text(propViews)
	}
	names := strings.Split(text, ",")
	return func(view string) bool { return slices.Contains(names, view) }
}
