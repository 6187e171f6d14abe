package view

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Lookup is a lookup row: it contains the key of its primary, and nothing else. A view of kind
// [types.Lookups] returns a row key without an id; the key of the stored row ends in the id of
// the operation that has added the value. So no two operations write or delete the same row.
//
// The primary names its rows in [PropLookups]: for each a hash of the view and of the key
// without the id, and the id. A row that the primary does not name has no effect: readers
// ignore it, and a sweep removes it.
type Lookup struct {
	View *View
	Key  keys.Key // without the id
	ID   string   // "" if the primary does not name a row of that key
}

const (
	lookupHash = 12 // characters of a hash
	lookupID   = 26 // and of an id, which is one of [txn.NewID]
	lookupName = lookupHash + len(":") + lookupID + len(",")

	// maxLookups is how many lookup rows a primary can have, because their names are one text
	// property, which has up to 32,768 characters.
	//
	// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-types
	maxLookups = 32768 / lookupName
)

// Row is the key of the stored row, or of a row that never exists if the primary names none.
func (l *Lookup) Row() keys.Key {
	return keys.Key{Partition: l.Key.Partition, Row: l.Key.Row + " " + l.ID}
}

// hash identifies the row among those of its primary.
func (l *Lookup) hash() string {
	partition := l.Key.Partition
	if l.View.Expiring != nil { // the row may have been moved, and an entity has one
		partition = ""
	}
	return Hash(l.View.Name, partition, l.Key.Row)[:lookupHash]
}

// name is what the primary has in [PropLookups] for the row.
func (l *Lookup) name() string { return l.hash() + ":" + l.ID + "," }

// NamedBy reports whether the primary with those [PropLookups] names the row.
func (l *Lookup) NamedBy(named string) bool { return strings.Contains(named, l.name()) }

// LookupAt returns the lookup row of v at key. ok is false if v has no row of such a key.
func (v *View) LookupAt(key keys.Key) (l Lookup, ok bool) {
	n := len(key.Row) - lookupID
	if v.Shape.Kind != types.Lookups || n < 1 || key.Row[n-1] != ' ' {
		return l, false
	}
	return Lookup{v, keys.Key{Partition: key.Partition, Row: key.Row[:n-1]}, key.Row[n:]}, true
}

// LookupParts returns the parts of the rows that should be stored.
func LookupParts(rows []Lookup, primary keys.Key) (all []Part) {
	for i := range rows {
		all = append(all, Part{Kind: PartLookup, View: rows[i].View.Name, Key: rows[i].Row(), Primary: primary})
	}
	return all
}

// LookupsOf returns the value of [PropLookups] in a row with those unknown properties, nil for none.
func LookupsOf(unknown *edm.Unknown) string {
	if unknown == nil {
		return ""
	}
	text, _ := unknown.Text(PropLookups)
	return text
}

// Lookups returns the lookup rows that entity, which is stored at key, implies, ordered by view and
// key. named is its [PropLookups], which has their ids. If entity is nil there are none.
func (s *Set) Lookups(entity any, key keys.Key, named string) ([]Lookup, error) {
	if entity == nil {
		return nil, nil
	}
	ids := map[string]string{}
	for ; len(named) >= lookupName; named = named[lookupName:] {
		ids[named[:lookupHash]] = named[lookupHash+1 : lookupName-1]
	}
	var all []Lookup
	var shown any
	for _, v := range s.Views {
		if v.Shape.Kind != types.Lookups {
			continue
		}
		var rows []types.DerivedRow
		var err error
		if shown, rows, err = s.rowsOf(v, entity, shown, s.asksTwice()); err != nil {
			return nil, err
		}
		for i, row := range rows {
			l := Lookup{View: v, Key: row.Key, ID: strings.Repeat("A", lookupID)} // the key with an id must be valid
			if err := s.check(&Derived{View: v, DerivedRow: types.DerivedRow{Key: l.Row(), Kind: row.Kind}}, key); err != nil {
				return nil, err
			}
			if i > 0 && rows[i-1].Key == row.Key {
				return nil, BadView(v.Name, "two rows have the same key")
			}
			l.ID = ids[l.hash()]
			all = append(all, l)
		}
	}
	if len(all) > maxLookups {
		return nil, azerr.Errorf("%w: more than %d lookup rows of an entity", azerr.ErrTooLarge, maxLookups)
	}
	return all, nil
}

// WithLookups returns unknown, of a primary, with the names of its lookup rows.
func WithLookups(unknown *edm.Unknown, rows []Lookup) edm.Unknown {
	if len(rows) == 0 && !unknown.Has(PropLookups) {
		return *unknown
	}
	all := make([]string, len(rows))
	for i := range rows {
		all[i] = rows[i].name()
	}
	slices.Sort(all)
	return unknown.WithTexts(edm.Text{Name: PropLookups, Value: strings.Join(all, "")})
}

// Put returns the operation that stores the row, whether it exists or not.
func (l *Lookup) Put(primary keys.Key) *txn.Op {
	row := OwnerProperties(primary, l.View.Name)
	op := &txn.Op{Kind: wire.InsertOrReplace, Value: &row}
	op.At(l.Row())
	return op
}
