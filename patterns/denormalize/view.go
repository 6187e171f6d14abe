package denormalize

import (
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Options are the options of [Into], [Count] and [Sum]. nil and the zero value mean the
// defaults.
type Options struct {
	// Table contains the rows that receive the properties, if that is not the entities'
	// own table. It may be in another account.
	Table *aztables.Client

	// Remote means that those rows are in other partitions of the entities' own table, so
	// that [patterns.NewStore] can require an outbox. Table implies it.
	Remote bool

	// Existing means that the view does not create a missing row. If the row is in the
	// entity's partition, the operation then fails with [patterns.ErrNotFound]. By default
	// a missing row is created with these properties alone.
	Existing bool

	// Version identifies the function, of which nothing else is known; see
	// [patterns.Shape.Version]. The names of the properties and the other options are part
	// of the definition anyway.
	Version string
}

// newView returns a view whose rows are merged into the row that part returns. properties
// are the names of those that it sets or adds to.
func newView[T any](name string, properties []string, opts *Options, part func(*T) (at keys.Key, spec patterns.MergeSpec, ok bool, err error)) patterns.View[T] {
	var o Options
	if opts != nil {
		o = *opts
	}
	shape := patterns.Shape{
		Kind: patterns.Merges, Remote: o.Remote,
		Version: fmt.Sprintf("%q %t %q", properties, o.Existing, o.Version),
	}
	if o.Table != nil {
		shape.Target = patterns.TableTarget(name, o.Table)
	}
	return patterns.NewView(name, shape, func(e *T) ([]patterns.DerivedRow, error) {
		at, spec, ok, err := part(e)
		if !ok || err != nil {
			return nil, err
		}
		spec.Existing = o.Existing
		return []patterns.DerivedRow{patterns.MergeRow(at, spec)}, nil
	})
}

// Into returns a view that stores properties of an entity in the row of another entity.
// part returns the key of that row and the properties, which are the fields of U, and
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
// Into makes no request. The error names the field of U that cannot be stored.
func Into[T, U any](name string, part func(*T) (at keys.Key, properties U, ok bool), opts *Options) (patterns.View[T], error) {
	typ, err := view.EntityTypeOf(reflect.TypeFor[U]())
	switch {
	case err != nil:
		return nil, fmt.Errorf("new part: %w", err)
	case part == nil:
		return nil, fmt.Errorf("new part: function: %w", patterns.ErrNil)
	case typ.IsEmpty():
		return nil, fmt.Errorf("new part: %w: the part has no properties", patterns.ErrBadView)
	}
	return newView(name, typ.Names(), opts, func(e *T) (at keys.Key, spec patterns.MergeSpec, ok bool, err error) {
		at, properties, ok := part(e)
		if ok {
			spec.Set, err = typ.Properties(&properties, at)
		}
		return at, spec, ok, err
	}), nil
}

// Count returns a view that counts entities. property, an Edm.Int64, is the number of
// entities for which in returns true and the key of the row that contains the count. in
// must be a pure function. Count makes no request.
func Count[T any](name, property string, in func(*T) (at keys.Key, ok bool), opts *Options) (patterns.View[T], error) {
	if in == nil {
		return nil, fmt.Errorf("new count: function: %w", patterns.ErrNil)
	}
	return Sum(name, property, func(e *T) (keys.Key, int64, bool) {
		at, ok := in(e)
		return at, 1, ok
	}, opts)
}

// Sum returns a view that adds up a value of entities, such as the number of open orders.
// property, an Edm.Int64, is the sum of v over all entities for which value returns true
// and the key of the row that contains the sum. value must be a pure function. Sum makes
// no request.
func Sum[T any](name, property string, value func(*T) (at keys.Key, v int64, ok bool), opts *Options) (patterns.View[T], error) {
	if value == nil {
		return nil, fmt.Errorf("new sum: function: %w", patterns.ErrNil)
	}
	if err := view.CheckPropertyName(property); err != nil {
		return nil, fmt.Errorf("new sum: %w", err)
	}
	return newView(name, []string{property}, opts, func(e *T) (keys.Key, patterns.MergeSpec, bool, error) {
		at, v, ok := value(e)
		return at, patterns.MergeSpec{Add: map[string]any{property: v}}, ok, nil
	}), nil
}
