package view

import (
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// ReservedRow is the prefix of the row keys that the library reserves for its own rows.
const ReservedRow = "~azp"

// The properties that the library adds to rows. Names and values are part of the stored
// format.
const (
	PropOwnerPK = "azp_pk"     // of a copy or mark: the primary's PartitionKey
	PropOwnerRK = "azp_rk"     // of a copy or mark: the primary's RowKey
	PropView    = "azp_view"   // of a copy, list or mark: the view's name
	PropOp      = "azp_op"     // of a copy: the operation that holds it until that is completed
	PropState   = "azp_state"  // of a copy: "reserved" if it only holds its key; of a row that a merge created: "part"; of an outbox row: its state
	PropViews   = "azp_views"  // of a primary or an outbox row: the views of the program that wrote it, a [Listing]
	propMerged  = "azp_merged" // of a row merged into: who set which properties
)

const (
	stateReserved = "reserved"

	// statePart means that the row was created by a merge, and has no entity of its own. A
	// Store that writes an entity there removes it.
	statePart = "part"
)

// Owner is what a copy states about its origin.
type Owner struct {
	Primary keys.Key // the entity that it is a copy of
	View    string   // the view that it belongs to

	// Reserved means that the row only holds its key, for an operation in progress or one
	// that was given up. It has no properties of the primary, and readers ignore it.
	Reserved bool
}

// OwnerOf returns the owner of the copy whose text properties text returns. ok is false
// if the row is not a copy.
func OwnerOf(text func(property string) (value string, ok bool)) (owner Owner, ok bool) {
	pk, ok1 := text(PropOwnerPK)
	rk, ok2 := text(PropOwnerRK)
	view, ok3 := text(PropView)
	if !ok1 || !ok2 || !ok3 {
		return Owner{}, false
	}
	state, _ := text(PropState)
	return Owner{Primary: keys.Key{Partition: pk, Row: rk}, View: view, Reserved: state == stateReserved}, true
}

func ownerOf(row txn.Content) (Owner, bool) {
	return OwnerOf(func(property string) (string, bool) {
		text, ok := row.Properties[property].(string)
		return text, ok
	})
}

// ownerUnknown returns the properties that make a row a copy of primary.
func ownerUnknown(primary keys.Key, view string) edm.Unknown {
	var u edm.Unknown
	u = u.WithText(PropOwnerPK, primary.Partition)
	u = u.WithText(PropOwnerRK, primary.Row)
	return u.WithText(PropView, view)
}

// ownerProperties returns the same as a map.
func ownerProperties(primary keys.Key, view string) edm.Properties {
	return edm.Properties{PropOwnerPK: primary.Partition, PropOwnerRK: primary.Row, PropView: view}
}
