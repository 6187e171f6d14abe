package denormalize

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Part is what an entity stores in the row of another entity. Make it with [Into], [Count] or
// [Sum], and a view of it with [Intra] or [Inter]. A Part is an immutable value and safe for
// concurrent use.
type Part[T any] struct {
	properties []string // the names of those that it sets or adds to
	of         func(*T) (at keys.Key, spec patterns.MergeSpec, ok bool, err error)
	err        error
}

// Into returns the part that is properties of the row of another entity. part
// returns the key of that row and the properties, which are the fields of U, and
// false if the entity has no part in any row. It must be a pure function. Fields of U that
// are omitted, such as nil pointers, are not stored. When part returns false, or another
// key, the properties are removed from the row.
//
// If several entities have a part in the same row, the first one stores it; the others
// fail with [*patterns.DuplicateError]: a department has one manager. If the row is
// outside the entity's partition, this is found only after the entity was stored: the
// operation succeeds, [patterns.StoreOptions.OnPending] receives the error, and the part
// is missing. The worker tries again, in case the first entity leaves the row, until
// the outbox message becomes a poison message. After that [patterns.Store.Repair] of the
// entity stores the part.
//
// If a field of U cannot be stored, the error of [patterns.NewStore] names it.
func Into[T, U any](part func(*T) (at keys.Key, properties U, ok bool)) Part[T] {
	typ, err := view.EntityTypeOf(reflect.TypeFor[U]())
	switch {
	case err != nil:
		return Part[T]{err: err}
	case part == nil:
		return Part[T]{err: fmt.Errorf("function: %w", patterns.ErrNil)}
	case typ.IsEmpty():
		return Part[T]{err: errors.New("the part has no properties")}
	}
	return Part[T]{properties: typ.Names(), of: func(e *T) (at keys.Key, spec patterns.MergeSpec, ok bool, err error) {
		at, properties, ok := part(e)
		if ok {
			spec.Set, err = typ.Properties(&properties, at)
		}
		return at, spec, ok, err
	}}
}

// Count returns the part that counts entities. property, an Edm.Int64, is the number of
// entities for which in returns true and the key of the row that contains the count. in
// must be a pure function.
func Count[T any](property string, in func(*T) (at keys.Key, ok bool)) Part[T] {
	if in == nil {
		return Sum[T](property, nil)
	}
	return Sum(property, func(e *T) (keys.Key, int64, bool) {
		at, ok := in(e)
		return at, 1, ok
	})
}

// Sum returns the part that adds up a value of entities, such as the number of open orders.
// property, an Edm.Int64, is the sum of v over all entities for which value returns true
// and the key of the row that contains the sum. value must be a pure function.
func Sum[T any](property string, value func(*T) (at keys.Key, v int64, ok bool)) Part[T] {
	if value == nil {
		return Part[T]{err: fmt.Errorf("function: %w", patterns.ErrNil)}
	}
	if err := view.CheckPropertyName(property); err != nil {
		return Part[T]{err: err}
	}
	return Part[T]{properties: []string{property}, of: func(e *T) (keys.Key, patterns.MergeSpec, bool, error) {
		at, v, ok := value(e)
		return at, patterns.MergeSpec{Add: map[string]any{property: v}}, ok, nil
	}}
}
