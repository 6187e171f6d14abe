package denormalize

import (
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Options are the options of [Into], [Count] and [Sum]. nil and the zero value mean the
// defaults.
type Options struct {
	// Table is where the rows stand that take the properties, when that is not the
	// entities' own table; it may be of another account.
	Table *aztables.Client

	// Remote says that the rows stand in other partitions of the entities' own table,
	// so that [patterns.NewStore] can ask for an outbox. Table implies it.
	Remote bool

	// Existing leaves a row missing that is not there: an operation on an entity of
	// the same partition then fails with [patterns.ErrNotFound]. Otherwise a missing
	// row is created with these properties alone.
	Existing bool
}

func (o *Options) get() Options {
	if o == nil {
		return Options{}
	}
	return *o
}

func (o Options) shape(name string) patterns.Shape {
	s := patterns.Shape{Kind: patterns.Merges, Remote: o.Remote}
	if o.Table != nil {
		s.Target = patterns.TableTarget(name, o.Table)
	}
	return s
}

// Into makes a view that keeps properties inside another entity's row. part gives the
// row's key and the properties, the fields of U; it says false where the entity gives
// none, and must be pure. Fields of U that are left out, such as nil pointers, are not
// set. When the entity does not give the part any more its properties are removed from
// the row.
//
// Of several entities that give a part to the same row, the first has it; the others
// fail with [*patterns.DuplicateError]: a department has one manager. Where the row is
// outside the entity's partition that comes too late: the entity is stored, the part is
// not, and [patterns.StoreOptions.OnPending] has the error. The worker goes on trying, in
// case the first gives the row up, until the wake-up is a poison message; after that
// [patterns.Store.Rebuild] of the entity stores the part.
//
// Into makes no request; the error names the field of U that cannot be stored.
func Into[T, U any](name string, part func(*T) (at keys.Key, properties U, ok bool), opts *Options) (patterns.View[T], error) {
	o := opts.get()
	codec, err := edm.CodecFor(reflect.TypeFor[U]())
	switch {
	case err != nil:
		return nil, fmt.Errorf("new part: %w", err)
	case part == nil:
		return nil, fmt.Errorf("new part: function: %w", patterns.ErrNil)
	case !codec.Open() && len(codec.Fields()) == 0:
		return nil, fmt.Errorf("new part: %w: the part has no properties", patterns.ErrBadView)
	}
	return patterns.NewView(name, o.shape(name), func(e *T) ([]patterns.DerivedRow, error) {
		at, u, ok := part(e)
		if !ok {
			return nil, nil
		}
		set, err := properties(codec, &u, at)
		if err != nil {
			return nil, err
		}
		return []patterns.DerivedRow{patterns.MergeRow(at, patterns.Merged{Set: set, Existing: o.Existing})}, nil
	}), nil
}

// properties takes a part apart.
func properties[U any](codec *edm.Codec, u *U, at keys.Key) (map[string]any, error) {
	body, err := codec.Append(nil, u, edm.Envelope{PartitionKey: at.Partition, RowKey: at.Row})
	if err != nil {
		return nil, err
	}
	set, _, err := edm.ReadProperties(body)
	return set, err
}

// Count makes a view that counts entities: property, an Edm.Int64, is the number of
// entities for which in says true, with the key of the row that holds the count. in
// must be pure.
func Count[T any](name, property string, in func(*T) (at keys.Key, ok bool), opts *Options) (patterns.View[T], error) {
	if in == nil {
		return nil, fmt.Errorf("new count: function: %w", patterns.ErrNil)
	}
	return Sum(name, property, func(e *T) (keys.Key, int64, bool) {
		at, ok := in(e)
		return at, 1, ok
	}, opts)
}

// Sum makes a view that adds up: property, an Edm.Int64, is the sum of what the
// entities give, such as their open orders. value must be pure.
func Sum[T any](name, property string, value func(*T) (at keys.Key, v int64, ok bool), opts *Options) (patterns.View[T], error) {
	if value == nil {
		return nil, fmt.Errorf("new sum: function: %w", patterns.ErrNil)
	}
	if err := checkName(property); err != nil {
		return nil, fmt.Errorf("new sum: %w", err)
	}
	o := opts.get()
	return patterns.NewView(name, o.shape(name), func(e *T) ([]patterns.DerivedRow, error) {
		at, v, ok := value(e)
		if !ok {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.MergeRow(at, patterns.Merged{Add: map[string]any{property: v}, Existing: o.Existing})}, nil
	}), nil
}

// checkName checks a property's name as the codec does, and that the codec writes it:
// keys, Timestamp and annotations of a bag are not properties.
func checkName(property string) error {
	codec, err := edm.CodecFor(reflect.TypeFor[map[string]any]())
	if err != nil {
		return err
	}
	bag := map[string]any{property: int64(0)}
	set, err := properties(codec, &bag, keys.Key{Partition: "p", Row: "r"})
	if _, written := set[property]; err == nil && !written {
		err = &patterns.PropertyError{Property: property, Want: "another name", Got: "a name that is no property's"}
	}
	return err
}
