package entitytype

import (
	"cmp"
	"fmt"
	"reflect"
	"sync"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/patterns"
)

// Registry maps the types and versions of entities to Go types. Make one with
// [NewRegistry], and call [Register] for all types before [New]. It is safe for concurrent
// use.
type Registry struct {
	property    string
	byRowKey    bool
	unversioned int // the version of a name without one; 0 if it is not a type

	mu      sync.RWMutex
	types   map[typeName]registered
	goTypes map[reflect.Type]typeName
}

// RegistryOptions are the options of [NewRegistry]. nil and the zero value mean the defaults.
type RegistryOptions struct {
	// Property is the name of the property that contains type and version. "" means
	// "EntityType".
	Property string

	// ByRowKey derives the name of the type from the part of the row key before the first
	// "_". The property then contains only the version.
	ByRowKey bool

	// Unversioned is the version of a row that contains the name of its type alone, as
	// hand-written programs store it: EntityType="Employee". An entity of that version is
	// written in the same form. With ByRowKey it is the version of a row without the
	// property; a written row has the property. 0 means that a name without a version is
	// not a type, and with ByRowKey 1.
	Unversioned int
}

const defaultProperty = "EntityType"

// NewRegistry returns an empty Registry. The error matches [patterns.ErrBadOption] if
// [RegistryOptions.Property] is not a name that a property of the caller can have, or if
// [RegistryOptions.Unversioned] is negative.
func NewRegistry(opts *RegistryOptions) (*Registry, error) {
	o := *cmp.Or(opts, &RegistryOptions{})
	o.Property = cmp.Or(o.Property, defaultProperty)
	if !txn.IsOwnName(o.Property) {
		return nil, azerr.Errorf("new registry: %w: RegistryOptions.Property is not a valid name for a property", azerr.ErrBadOption)
	}
	if o.Unversioned < 0 {
		return nil, azerr.Errorf("new registry: %w: RegistryOptions.Unversioned is negative", azerr.ErrBadOption)
	}
	if o.ByRowKey && o.Unversioned == 0 {
		o.Unversioned = 1
	}
	return &Registry{
		property:    o.Property,
		byRowKey:    o.ByRowKey,
		unversioned: o.Unversioned,
		types:       make(map[typeName]registered),
		goTypes:     make(map[reflect.Type]typeName),
	}, nil
}

// The sentinels of this package; match them with [errors.Is].
var (
	// ErrBadType means that a type cannot be registered; the message states why.
	ErrBadType = azerr.Sentinel("type cannot be registered")

	// ErrRegistered means that a name and version, or a Go type, is already registered.
	ErrRegistered = azerr.Sentinel("already registered")

	// ErrUnknownType means that the Go type of a value is not registered.
	ErrUnknownType = azerr.Sentinel("type is not registered")

	// ErrUpcast means that an upcaster failed, or that the value it returned does not
	// belong to a later version of the same entity type.
	ErrUpcast = azerr.Sentinel("upcast failed")

	// ErrOtherType means that the Value of an [Entity] was replaced by one of another
	// type, or that the Entity was not returned by a [Table].
	ErrOtherType = azerr.Sentinel("value does not have the type that was read")

	// ErrWrongKey means that a row key does not begin with the name of the value's type,
	// although [RegistryOptions.ByRowKey] is set. It matches [patterns.ErrBadKey].
	ErrWrongKey = azerr.Errorf("%w: the row key does not begin with the name of the type", patterns.ErrBadKey)
)

// Register makes T the Go type of a version of the entity type called name. The name is 1
// to 64 ASCII letters and digits, and the version is 1 or more. Both are stored with every
// row and must not change. T is a struct without a field for [RegistryOptions.Property].
//
// upcast converts a value to one of a later version, of a Go type that is registered for
// the same name, or to a pointer to one. It must be a pure function. It is nil for the
// newest version, which is the one that is written.
func Register[T any](r *Registry, name string, version int, upcast func(T) (any, error)) error {
	goType := reflect.TypeFor[T]()
	if err := r.add(goType, typeName{name, version}, &registration[T]{upcaster: upcast}); err != nil {
		return fmt.Errorf("register %v: %w", goType, err)
	}
	return nil
}

func (r *Registry) add(goType reflect.Type, n typeName, t registered) error {
	if r == nil || r.types == nil {
		return fmt.Errorf("registry: %w", patterns.ErrNil)
	}
	if !n.valid() {
		return fmt.Errorf("%w: the name must be 1 to 64 letters and digits, the version 1 or more", ErrBadType)
	}
	if goType.Kind() != reflect.Struct {
		return fmt.Errorf("%w: it is not a struct", ErrBadType)
	}
	fields, err := txn.Fields(goType, false)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadType, err)
	}
	for _, f := range fields {
		if f.Name == r.property {
			return fmt.Errorf("%w: it has a field for the property that contains the entity type", ErrBadType)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.types[n]; found {
		return fmt.Errorf("%w: the name and version", ErrRegistered)
	}
	if _, found := r.goTypes[goType]; found {
		return fmt.Errorf("%w: the Go type", ErrRegistered)
	}
	r.types[n], r.goTypes[goType] = t, n
	return nil
}

// byName returns the Go type that is registered for n, or nil.
func (r *Registry) byName(n typeName) registered {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[n]
}

// byGoType returns the name and version for which a Go type is registered.
func (r *Registry) byGoType(t reflect.Type) (typeName, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n, ok := r.goTypes[t]
	return n, ok
}
