package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// MarkProperties are the properties of a row that [Set.IsPrimary] asks for.
func MarkProperties() []string { return []string{PropView, PropState} }

// IsPrimary reports whether r, a row of the primaries' table, is a primary, and not a row of
// the library, a row of a view, a row that a merge created, or an entity of another type. r
// must have the [MarkProperties], and all properties if whole is set.
//
// If whole is not set, r may have been read in part, or not be an entity of the table's type:
// only its key and its marks are judged. [Set.HasOwner] views may have rows without a mark.
func (s *Set) IsPrimary(r *txn.Record, whole bool) (bool, error) {
	if strings.HasPrefix(r.Key.Row, ReservedRow) || r.Origin != nil && isDerived(&r.Origin.Unknown) || IsPart(r) {
		return false, nil
	}
	if !whole {
		return true, nil
	}
	if name, err := s.ViewOf(r); err != nil || name != "" {
		return false, err
	}
	if s.KeyOf == nil {
		return true, nil
	}
	own, err := KeyOf(s.KeyOf, r.Value)
	return err == nil && own == r.Key, nil
}

func isDerived(u *edm.Unknown) bool {
	_, derived := u.Text(PropView)
	return derived
}

// KeyOf calls keyOf. A function for keys need not accept an entity that was decoded from a row
// of another type, so a panic of it means that the entity has no key.
func KeyOf(keyOf func(entity any) (keys.Key, error), entity any) (key keys.Key, err error) {
	defer func() {
		if recover() != nil {
			err = keys.ErrBadKey
		}
	}()
	return keyOf(entity)
}

// IsPart reports whether r is a row that a merge created, in which no entity was stored since.
func IsPart(r *txn.Record) bool {
	if r.Origin == nil {
		return false
	}
	state, _ := r.Origin.Unknown.Text(PropState)
	return state == statePart
}

// HasOwner reports whether a view has rows in the primaries' table that only [types.Shape].Owner
// recognizes.
func (s *Set) HasOwner() bool {
	return slices.ContainsFunc(s.Views, func(v *View) bool { return !v.Foreign() && v.Shape.Owner != nil })
}

// OverPart returns entity as it is stored over part, a row for which [IsPart] is true. What
// was merged into the row stays: origin has the properties for which the entity has no fields,
// and the result those for which it has. If the latter do not exist, the result is entity.
func (s *Set) OverPart(entity any, part *txn.Record, zero func() any) (now any, origin *txn.Origin, err error) {
	o := *part.Origin
	o.Unknown = o.Unknown.Keep(func(name []byte) bool { return string(name) != PropState })
	merged, err := s.mergedIn(part)
	if err != nil || len(merged) == 0 {
		return entity, &o, err
	}
	e := edm.Envelope{PartitionKey: part.Key.Partition, RowKey: part.Key.Row}
	body, err := s.codec.Append(nil, entity, e)
	if err != nil {
		return nil, nil, err
	}
	p, _, err := edm.ReadProperties(body)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(p, merged)
	if body, err = edm.AppendProperties(nil, p, e); err != nil {
		return nil, nil, err
	}
	now = zero()
	return now, &o, s.codec.DecodeEntity(body, now, &edm.Meta{}, nil)
}

// mergedIn returns the properties that have been merged into part and for which the table's
// type has fields: counters, and what is recorded as set.
func (s *Set) mergedIn(part *txn.Record) (edm.Properties, error) {
	text, _ := part.Origin.Unknown.Text(propMerged)
	setters, err := settersOf(edm.Properties{propMerged: text})
	if err != nil {
		return nil, err
	}
	fields, err := s.propertiesOf(&txn.Record{Value: part.Value, Key: part.Key})
	maps.DeleteFunc(fields, func(name string, v any) bool {
		_, counter := number(v)
		for _, from := range setters {
			counter = counter || slices.Contains(from.Names, name)
		}
		return !counter
	})
	return fields, err
}
