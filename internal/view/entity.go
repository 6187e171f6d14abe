package view

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// EntityType describes how the entities of one Go type are stored: their keys and their
// properties. Makers of views use it. It is safe for concurrent use. Entities are passed
// as non-nil pointers to the type.
type EntityType struct {
	typ   reflect.Type
	codec *edm.Codec
}

// EntityTypeOf returns the EntityType of a struct or map type. The error names the field
// that cannot be stored, or that is encrypted.
func EntityTypeOf(t reflect.Type) (*EntityType, error) {
	if _, err := edm.CodecFor(t); err != nil {
		return nil, err
	}
	return PrimaryTypeOf(t)
}

// PrimaryTypeOf is [EntityTypeOf] of a type that may have encrypted fields. The table has their keys, and the
// EntityType does not: of the row of a copy it cannot read them. Its [EntityType.Properties] must not be stored.
func PrimaryTypeOf(t reflect.Type) (*EntityType, error) {
	codec, err := edm.ComparingCodecFor(t)
	if err != nil {
		return nil, err
	}
	return &EntityType{t, codec}, nil
}

// MayHaveKeys reports whether entities can contain their own key: the type has fields for
// it, or is a map.
func (t *EntityType) MayHaveKeys() bool { return t.codec.HasKeys() || t.codec.Open() }

// Key returns the key that entity contains. ok is false if it contains none.
func (t *EntityType) Key(entity any) (key keys.Key, ok bool) {
	key.Partition, key.Row, ok = t.codec.Keys(entity)
	return key, ok
}

// SetKey assigns key to the fields PartitionKey and RowKey of entity, if it has them.
func (t *EntityType) SetKey(entity any, key keys.Key) {
	t.codec.SetKeys(entity, key.Partition, key.Row)
}

// MayHave reports whether entities can have a property of that name.
func (t *EntityType) MayHave(property string) bool {
	return t.codec.Open() || slices.ContainsFunc(t.codec.Fields(), func(f edm.Field) bool { return f.Name == property })
}

// Names returns the names of the properties that entities can have, sorted; nil for a map.
func (t *EntityType) Names() []string {
	var names []string
	for _, f := range t.codec.Fields() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// IsEmpty reports whether entities can have no property at all.
func (t *EntityType) IsEmpty() bool { return !t.codec.Open() && len(t.codec.Fields()) == 0 }

// Properties returns the properties of entity as a row at key would have them.
func (t *EntityType) Properties(entity any, at keys.Key) (map[string]any, error) {
	body, err := t.codec.Append(nil, entity, edm.Envelope{PartitionKey: at.Partition, RowKey: at.Row})
	if err != nil {
		return nil, err
	}
	properties, _, err := edm.ReadProperties(body)
	return properties, err
}

// FromProperties returns a new entity with the properties of the row at key.
func (t *EntityType) FromProperties(properties map[string]any, at keys.Key) (any, error) {
	body, err := edm.AppendProperties(nil, properties, edm.Envelope{PartitionKey: at.Partition, RowKey: at.Row})
	if err != nil {
		return nil, err
	}
	entity := reflect.New(t.typ).Interface()
	var m edm.Meta
	var unknown edm.Unknown
	return entity, t.codec.DecodeEntity(body, entity, &m, &unknown)
}

// EqualCopies reports whether a copy of a at key has the same content as a copy of b.
// only lists the properties that copies have; nil means all.
func (t *EntityType) EqualCopies(a, b any, key keys.Key, only []string) (bool, error) {
	var bodies [2][]byte
	for i, entity := range []any{a, b} {
		var err error
		if bodies[i], err = encodeCopy(t.codec, entity, key, only, nil); err != nil {
			return false, err
		}
	}
	return bytes.Equal(bodies[0], bodies[1]), nil
}

// CheckPropertyName fails if a row cannot have a property of that name that a view sets:
// the name is invalid or reserved, or means a key, Timestamp or an annotation.
func CheckPropertyName(name string) error {
	row, err := EntityTypeOf(reflect.TypeFor[map[string]any]())
	if err != nil {
		return err
	}
	entity := map[string]any{name: int64(0)}
	properties, err := row.Properties(&entity, keys.Key{Partition: "p", Row: "r"})
	if err != nil {
		return err
	}
	if _, written := properties[name]; !written {
		return &types.PropertyError{Property: name, Want: "another name", Got: "the name of a key, of Timestamp or of an annotation"}
	}
	return nil
}

// encodeCopy returns the body of a copy of entity at key. only lists the properties to copy; nil
// means all. stored has the types and spellings that they are stored with, and further properties.
func encodeCopy(codec *edm.Codec, entity any, key keys.Key, only []string, stored *edm.Unknown) ([]byte, error) {
	return codec.Append(nil, entity, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Unknown: stored, Only: only})
}

// copied returns what a copy of a row has of unknown, which was read with the row: types and
// spellings and, in a full copy, the properties without a field that are not of the library.
func copied(unknown *edm.Unknown, full bool) edm.Unknown {
	if unknown == nil {
		return edm.Unknown{}
	}
	merged := mergedNames(unknown)
	return unknown.Keep(func(name []byte) bool {
		return full && !edm.IsReserved(string(name)) && !slices.Contains(merged, string(name))
	})
}
