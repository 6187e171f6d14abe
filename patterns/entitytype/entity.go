package entitytype

import (
	"fmt"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Entity is a row of any type. To change it, change what Value points to and pass the
// Entity to [Table.Replace] or [Table.Merge].
type Entity struct {
	// Item contains the row's key, ETag and Timestamp. Its Value is a pointer to a
	// registered Go type or an *[Unknown]. The Go type is that of the newest version to
	// which upcasters convert the stored one. If the entity was read in part, by
	// [patterns.QueryOptions.Select], it is that of the stored version, because upcasters need
	// whole values; the entity can then be merged, but must not replace the row.
	patterns.Item[any]

	// Name and Version are the type that is stored in the row. They are zero if the row
	// does not contain its type.
	Name    string
	Version int

	read readAs
}

// readAs is what must not change between the read and the write of an Entity.
type readAs struct {
	key    keys.Key
	goType reflect.Type // to which Value points; nil if the Entity was not read
}

// Unknown is a row whose type is not registered, or which does not contain its type. When
// it is written, its properties keep their types.
type Unknown struct {
	// Properties by name, including the one that contains the type and, after a read,
	// PartitionKey and RowKey: string, bool, int32, int64, float64, time.Time, []byte or
	// [16]byte.
	Properties map[string]any
}

var unknownType = reflect.TypeFor[Unknown]()

// newEntity returns an item whose type is stored as n, or an item without a type if n is
// zero.
func newEntity(item patterns.Item[any], n typeName) Entity {
	return Entity{Item: item, Name: n.name, Version: n.version,
		read: readAs{item.Key, reflect.TypeOf(item.Value).Elem()}}
}

// target returns a pointer to a value of the type that is stored in a row, or to a map if
// that is not registered.
func (r *Registry) target(rowKey, text []byte, isText bool) any {
	if isText {
		name, version := r.parse(rowKey, text)
		r.mu.RLock()
		defer r.mu.RUnlock()
		if t := r.types[typeName{string(name), version}]; t != nil {
			return t.zero()
		}
	}
	return new(map[string]any)
}

// decode returns a row that was decoded into its target as an Entity.
func (r *Registry) decode(row patterns.Item[any]) (Entity, error) {
	if properties, ok := row.Value.(*map[string]any); ok {
		n := r.stored(row.Key.Row, (*properties)[r.property])
		return newEntity(patterns.WithValue(row, any(&Unknown{*properties})), n), nil
	}
	n, _ := r.byGoType(reflect.TypeOf(row.Value).Elem())
	if row.Projected() {
		return newEntity(row, n), nil
	}
	value, err := r.newest(r.byName(n), n, row.Value)
	if err != nil {
		return Entity{}, err
	}
	row.Value = value
	return newEntity(row, n), nil
}

// newest converts a value, stored as t with the name n, to the newest version of its type.
func (r *Registry) newest(t registered, n typeName, value any) (any, error) {
	for {
		next, err := t.upcast(value)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %v: %w", ErrUpcast, n, azerr.Seal(err))
		case next == nil:
			return value, nil
		}
		later, ok := r.byGoType(indirect(next))
		if !ok || later.name != n.name || later.version <= n.version {
			return nil, fmt.Errorf("%w: %v: the value is not of a later version", ErrUpcast, n)
		}
		t = r.byName(later)
		if value = t.pointer(next); value == nil {
			return nil, fmt.Errorf("%w: %v: the value is nil", ErrUpcast, n)
		}
		n = later
	}
}

// indirect returns the type of v, or the type that v points to.
func indirect(v any) reflect.Type {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
