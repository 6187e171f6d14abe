package view

import (
	"cmp"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/keys"
)

// A meaning decides whether a stored row is what its primary implies. Adoption, drains, Verify,
// Repair and Bulk ask it, and nothing else does.
//
// Values are compared by [edm.Codec.Normal], so a missing property is the same as the zero
// value. The properties of the library are not compared here. Of a slim copy, properties that
// neither the type nor the copy names are not compared: other programs may have added them. A
// full copy has all properties of its primary, so they must be the same.
//
// The zero meaning is that of a type without fields.
type meaning struct {
	codec *edm.Codec
	exact bool // types and spellings are compared too, and all properties of every row

	key keys.Key // of the row, see [meaning.at]
}

// at returns m for the row at key. Encrypted values are compared by what they contain, and only in their own row.
func (m meaning) at(key keys.Key) meaning {
	m.key = key
	return m
}

// opened returns the value of a property as it was before encryption.
func (m meaning) opened(name string, v any) any {
	return m.typed().Opened(sealed.Place{Partition: m.key.Partition, Row: m.key.Row, Property: name}, v)
}

func (m meaning) typed() *edm.Codec { return cmp.Or(m.codec, edm.PropertiesCodec()) }

// compares reports whether a property of a copy with only those properties, nil for all, is
// compared.
func (m meaning) compares(name string, only []string) bool {
	if edm.IsReserved(name) {
		return false
	}
	return m.exact || only == nil || slices.Contains(only, name) || m.typed().HasField(name)
}

// normal returns the properties of a copy that are compared, in a form in which copies that are the
// same are equal.
func (m meaning) normal(row edm.Properties, only []string) edm.Properties {
	normal := make(edm.Properties, len(row))
	for name, v := range row {
		if !m.compares(name, only) {
			continue
		}
		if !m.exact {
			v = m.typed().Normal(name, m.opened(name, v))
		}
		if v != nil {
			normal[name] = v
		}
	}
	return normal
}

// same reports whether two copies have the same content.
func (m meaning) same(a, b edm.Properties, only []string) bool {
	return m.normal(a, only).Equal(m.normal(b, only))
}

// recognizes reports whether row, which states no owner, is the copy that implies want: it is the
// same, and that is known of it. Of a row whose properties are all not compared, as those of another
// program in a slim copy, nothing is known.
func (m meaning) recognizes(want, row edm.Properties, only []string) bool {
	return isUnmarked(row) && m.same(want, row, only) && m.shows(row, only)
}

// shows reports whether a row without properties of the library has a property that is compared, or none.
func (m meaning) shows(row edm.Properties, only []string) bool {
	for name := range row {
		if m.compares(name, only) {
			return true
		}
	}
	return len(row) == 0
}

// keeps reports whether a property that has the value stored, and should have the value want, stays
// as it is.
func (m meaning) keeps(name string, want, stored any) bool {
	return !m.exact && m.typed().Same(name, m.opened(name, want), m.opened(name, stored))
}

// over returns what is stored in place of a copy that implies want: stored where that is the
// same, or is not compared, so that no type, spelling or property changes without need. The
// properties of the library are those of want.
func (m meaning) over(want, stored edm.Content, only []string) edm.Content {
	if m.exact {
		return want
	}
	stays := func(name string) bool {
		v, exists := stored.Properties[name]
		return exists && !edm.IsReserved(name) && (!m.compares(name, only) || m.keeps(name, want.Properties[name], v))
	}
	result := want.TextsOf(stored, stays)
	result.Properties = maps.Clone(want.Properties)
	for name, v := range want.Properties {
		if _, exists := stored.Properties[name]; !exists && !edm.IsReserved(name) && m.typed().Same(name, m.opened(name, v), nil) {
			delete(result.Properties, name)
		}
	}
	for name, v := range stored.Properties {
		if stays(name) {
			result.Properties[name] = v
		}
	}
	return result
}
