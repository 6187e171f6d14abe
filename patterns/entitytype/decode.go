package entitytype

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Entity is a row of any type.
type Entity struct {
	// Value is a pointer to the row's Go type, of the newest version that its
	// upcasters lead to, or an *[Unknown]. Change what it points to and hand the
	// Entity to [Table.Replace].
	Value any

	Key       keys.Key    // where it was read; it must not change
	ETag      azcore.ETag // the version
	Timestamp time.Time

	// Name and Version are as stored; they are zero where the row does not tell.
	Name    string
	Version int

	read entity
}

// write is the change of the row that e was read from to e.Value.
func (e *Entity) write(v verb) write {
	return write{verb: v, key: e.Key, value: e.Value, read: e.read, etag: e.ETag}
}

// Unknown is a row whose type is not registered, or that does not tell its type.
// Written back, its properties keep their types.
type Unknown struct {
	// Properties by name, the one that holds the type among them: string, bool,
	// int32, int64, float64, time.Time, []byte or [16]byte.
	Properties map[string]any
}

// ErrUnknownType is a value whose Go type is not registered.
var ErrUnknownType = errors.New("type is not registered")

// ErrUpcast is an upcaster that failed, or gave a value that is not of a later
// version of the same entity type.
var ErrUpcast = errors.New("upcast failed")

// decode gives a row its type. A row that does not fit its type is an error that
// names the property.
func (r *Registry) decode(row patterns.Item[patterns.Row]) (Entity, error) {
	e := Entity{Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp}
	n, ok := r.name(row)
	if ok {
		e.Name, e.Version = n.name, n.version
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := r.types[n]
	if t == nil {
		bag, err := patterns.Decode[map[string]any](row)
		if err != nil {
			return e, err
		}
		e.read = &item[map[string]any]{bag}
		e.Value = &Unknown{bag.Value}
		return e, nil
	}
	typed, err := t.decode(row)
	for err == nil {
		var next any
		if next, err = t.upcast(typed); err != nil {
			err = fmt.Errorf("%w: %s: %w", ErrUpcast, n, err)
			break
		}
		if next == nil {
			e.read, e.Value = typed, typed.value()
			return e, nil
		}
		to, later := r.goType[indirect(next)]
		if !later || to.name != n.name || to.version <= n.version {
			return e, fmt.Errorf("%w: %s: the value is not of a later version", ErrUpcast, n)
		}
		t, n = r.types[to], to
		if typed, ok = t.adopt(typed.row(), next); !ok {
			return e, fmt.Errorf("%w: %s: the value is nil", ErrUpcast, n)
		}
	}
	return e, err
}

// indirect is the type of v, or what it points to.
func indirect(v any) reflect.Type {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
