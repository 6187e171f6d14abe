package view

import (
	"cmp"
	"maps"
	"reflect"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// ReservedRow is the prefix of the row keys that the library reserves for its own rows.
const ReservedRow = "~azp"

// The properties that the library adds to rows. Names and values are part of the stored
// format.
const (
	PropOwnerPK = "azp_pk"      // of a copy or mark: the primary's PartitionKey
	PropOwnerRK = "azp_rk"      // of a copy or mark: the primary's RowKey
	PropView    = "azp_view"    // of a copy, list or mark: the view's name
	PropOp      = "azp_op"      // of a copy: the operation that holds it until that is completed
	PropState   = "azp_state"   // of a copy: "reserved" if it only holds its key; of a row that a merge created: "part"; of an outbox row: its state
	PropViews   = "azp_views"   // of a primary or an outbox row: the views of the program that wrote it, a [Listing]
	PropLookups = "azp_lookups" // of a primary: the ids of its lookup rows, see [Set.Lookups]
	propMerged  = "azp_merged"  // of a row merged into: who set which properties
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

// Claims reports whether the row at key, in the table that contains the rows of v, is a
// row of v, and returns its owner: by its marker if it has one, otherwise by
// [types.Shape].Owner. The owner of a list has no Primary. row contains all properties of the
// row. No row of kind Merges is claimed, because it belongs to another entity.
//
// Claims fails if Shape.Owner panics. It makes no request.
func (v *View) Claims(key keys.Key, row edm.Properties) (owner Owner, ok bool, err error) {
	if v.Shape.Kind == types.Merges || strings.HasPrefix(key.Row, ReservedRow) {
		return Owner{}, false, nil
	}
	owner, ok, err = v.ownerOf(key, row)
	return owner, ok && owner.View == v.Name, err
}

// ownerOf returns the owner of the row at key, which may be a row of another view.
func (v *View) ownerOf(key keys.Key, row edm.Properties) (owner Owner, ok bool, err error) {
	view, marked := row[PropView].(string)
	if !marked {
		if _, isPrimary := row[PropViews]; isPrimary {
			return Owner{}, false, nil
		}
		owner.View = v.Name
		owner.Primary, ok, err = v.unmarkedOwner(key, func() map[string]any { return withoutReserved(row) })
		return owner, ok, err
	}
	if v.Shape.Kind == types.Members {
		return Owner{View: view}, true, nil
	}
	owner, ok = OwnerOf(func(property string) (string, bool) {
		text, ok := row[property].(string)
		return text, ok
	})
	return owner, ok, nil
}

// PrimaryOf returns the primary of the copy of v at key. ok is false if the row is not one of v.
func (v *View) PrimaryOf(key keys.Key, row edm.Properties) (primary keys.Key, ok bool, err error) {
	owner, ok, err := v.ownerOf(key, row)
	return owner.Primary, ok && !owner.Reserved && owner.View == v.Name, err
}

// unmarkedOwner calls [types.Shape].Owner. primary is zero if ok is false, whatever Owner returns.
func (v *View) unmarkedOwner(key keys.Key, row func() map[string]any) (primary keys.Key, ok bool, err error) {
	if v.Shape.Owner == nil {
		return keys.Key{}, false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			primary, ok, err = keys.Key{}, false, BadView(v.Name, "Owner panicked with a %T", p)
		}
	}()
	if primary, ok = v.Shape.Owner(key, row); !ok {
		primary = keys.Key{}
	}
	return primary, ok, nil
}

// withoutReserved returns the properties of a row that the library did not add.
func withoutReserved(row edm.Properties) map[string]any {
	own := make(map[string]any, len(row))
	for name, v := range row {
		if !edm.IsReserved(name) {
			own[name] = v
		}
	}
	return own
}

// isUnmarked reports whether the library has added nothing to the row.
func isUnmarked(row edm.Properties) bool {
	for name := range row {
		if edm.IsReserved(name) {
			return false
		}
	}
	return true
}

// nonZero returns the properties of a row that the library did not add, without those that
// have the zero value: whether a program stores those depends on its type.
func nonZero(row edm.Properties) edm.Properties {
	own := edm.Properties(withoutReserved(row))
	maps.DeleteFunc(own, func(_ string, v any) bool {
		b, isBinary := v.([]byte)
		return isBinary && len(b) == 0 || !isBinary && reflect.ValueOf(v).IsZero()
	})
	return own
}

// ViewOf returns the name of the view whose row r is, read from the primaries' table as a
// primary; "" if it is no row of a view. It makes no request.
func (s *Set) ViewOf(r *txn.Record) (string, error) {
	if r.Origin != nil {
		name, ok := r.Origin.Unknown.Text(PropView)
		if ok || r.Origin.Unknown.Has(PropViews) {
			return name, nil
		}
	}
	var all map[string]any
	var failed error
	row := func() map[string]any {
		if all == nil {
			all, failed = s.propertiesOf(r)
		}
		return maps.Clone(all)
	}
	for _, v := range s.Views {
		if v.Foreign() {
			continue
		}
		_, ok, err := v.unmarkedOwner(r.Key, row)
		if err = cmp.Or(err, failed); err != nil {
			return "", err
		}
		if ok {
			return v.Name, nil
		}
	}
	return "", nil
}

// propertiesOf returns the properties of r that the library did not add, without those that
// have the zero value: r does not show whether they are stored.
func (s *Set) propertiesOf(r *txn.Record) (map[string]any, error) {
	e := edm.Envelope{PartitionKey: r.Key.Partition, RowKey: r.Key.Row}
	if r.Origin != nil {
		e.Unknown = &r.Origin.Unknown
	}
	body, err := s.codec.Append(nil, r.Value, e)
	if err != nil {
		return nil, err
	}
	p, _, err := edm.ReadProperties(body)
	return nonZero(p), err
}

// mark returns unknown with the properties that make a row a copy of primary, unless the view
// is plain.
func (v *View) mark(unknown *edm.Unknown, primary keys.Key) edm.Unknown {
	if v.Shape.Plain {
		return *unknown
	}
	return unknown.WithTexts(edm.Text{Name: PropOwnerPK, Value: primary.Partition},
		edm.Text{Name: PropOwnerRK, Value: primary.Row}, edm.Text{Name: PropView, Value: v.Name})
}

// OwnerProperties returns the properties that make a row a copy of primary.
func OwnerProperties(primary keys.Key, view string) edm.Properties {
	return edm.Properties{PropOwnerPK: primary.Partition, PropOwnerRK: primary.Row, PropView: view}
}
