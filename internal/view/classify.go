package view

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// MarkProperties are the properties of a row that [Set.IsPrimary] asks for.
func MarkProperties() []string { return []string{PropView, PropState} }

// IsPrimary reports whether a row of the primaries' table is a primary, and not a row of the
// library, a row of a view, a row that a merge created, or an entity of another type. text
// returns a text property of the row; it must know [MarkProperties].
//
// entity is the row decoded as an entity of the table's type. If it is nil, the row cannot be
// decoded or was read in part: IsPrimary then returns true unless key and properties exclude
// the row.
func (s *Set) IsPrimary(key keys.Key, text func(property string) (value string, ok bool), entity any) bool {
	if strings.HasPrefix(key.Row, ReservedRow) {
		return false
	}
	if _, derived := text(PropView); derived {
		return false
	}
	if state, _ := text(PropState); state == statePart {
		return false
	}
	if entity == nil || s.KeyOf == nil {
		return true
	}
	own, err := s.keyOf(entity)
	return err == nil && own == key
}

// keyOf is KeyOf. A function for keys need not accept an entity that was decoded from a row
// of another type, so a panic of it means that the entity has no key.
func (s *Set) keyOf(entity any) (key keys.Key, err error) {
	defer func() {
		if recover() != nil {
			err = keys.ErrBadKey
		}
	}()
	return s.KeyOf(entity)
}

// Unpart returns u without the mark of a row that a merge created.
func Unpart(u edm.Unknown) edm.Unknown {
	if state, _ := u.Text(PropState); state != statePart {
		return u
	}
	return u.Keep(func(name string) bool { return name != PropState })
}
