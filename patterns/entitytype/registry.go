package entitytype

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Registry knows the Go type of each entity type and version. Register all of them
// before [New]. It may be used by any number of goroutines.
type Registry struct {
	property string
	byRowKey bool

	mu     sync.RWMutex
	types  map[typeName]registered
	goType map[reflect.Type]typeName
}

// Options are the options of [NewRegistry]. nil and the zero value mean the defaults.
type Options struct {
	// Property is the name of the property that holds type and version. "" means
	// "EntityType". [Register] and [New] refuse a name that no property can have.
	Property string

	// ByRowKey takes the type's name from the row key, in front of the first "_", and
	// only the version from the property.
	ByRowKey bool
}

// DefaultProperty is the property that tells a row's type unless Options say
// otherwise.
const DefaultProperty = "EntityType"

type typeName struct {
	name    string
	version int
}

func (n typeName) String() string { return n.name + ":" + strconv.Itoa(n.version) }

// registered is one Go type.
type registered interface {
	typed(client *aztables.Client) (typed, error)
	decode(row patterns.Item[patterns.Row]) (entity, error)
	// upcast gives the value of a later version, or nil for the newest.
	upcast(e entity) (any, error)
	// adopt makes an entity of the Go type out of what upcast gave.
	adopt(row patterns.Item[patterns.Row], v any) (entity, bool)
}

// NewRegistry makes an empty Registry.
func NewRegistry(opts *Options) *Registry {
	r := &Registry{
		property: DefaultProperty,
		types:    make(map[typeName]registered),
		goType:   make(map[reflect.Type]typeName),
	}
	if opts != nil {
		r.byRowKey = opts.ByRowKey
		if opts.Property != "" {
			r.property = opts.Property
		}
	}
	return r
}

// ErrRegistered is a name and version, or a Go type, that is registered already.
var ErrRegistered = errors.New("registered already")

// ErrBadType is a type that cannot be registered; the text says why.
var ErrBadType = errors.New("type cannot be registered")

// Register makes T the Go type of a version of the entity type called name. The name
// is 1 to 64 letters and digits, and the version 1 or more: they are stored with
// every row and must not change. T is a struct without a field for the property
// that holds the type.
//
// upcast turns a value into one of a later version, whose Go type is registered for
// the same name; it must be pure. It is nil for the newest version, the one that is
// written.
func Register[T any](r *Registry, name string, version int, upcast func(T) (any, error)) error {
	n := typeName{name, version}
	fail := func(err error, why string) error {
		return fmt.Errorf("register %s version %d: %w: %s", safe(name), version, err, why)
	}
	if r == nil {
		return fmt.Errorf("register %s: registry: %w", safe(name), patterns.ErrNil)
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("register %s: %w", safe(name), err)
	}
	if safe(name) != name || version < 1 {
		return fail(ErrBadType, "the name must be 1 to 64 letters and digits, the version 1 or more")
	}
	goType := reflect.TypeFor[T]()
	if goType.Kind() != reflect.Struct {
		return fail(ErrBadType, "the Go type is not a struct")
	}
	codec, err := edm.CodecFor(goType)
	if err != nil {
		return fmt.Errorf("register %s: %w", name, err)
	}
	for _, f := range codec.Fields() {
		if f.Name == r.property {
			return fail(ErrBadType, "the Go type has a field for the property that holds the type")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.types[n]; twice {
		return fail(ErrRegistered, "this name and version")
	}
	if _, twice := r.goType[goType]; twice {
		return fail(ErrRegistered, "this Go type")
	}
	r.types[n] = &registration[T]{name: n, up: upcast}
	r.goType[goType] = n
	return nil
}

// check refuses a name of the property that the service does not take, or keeps to
// itself: the types of the rows would be lost.
func (r *Registry) check() error {
	switch r.property {
	default:
		if query.Prop(r.property).Eq("").Err() == nil && !edm.IsReserved(r.property) {
			return nil
		}
	case "PartitionKey", "RowKey", "Timestamp":
	}
	return fmt.Errorf("%w: Options.Property is no name for a property", ErrBadType)
}

// safe is name if it is a legal one, and what can be printed of it otherwise.
func safe(name string) string {
	illegal := strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	})
	if name == "" || len(name) > 64 || illegal {
		return "a type"
	}
	return name
}

// name tells the type of a row. ok is false where the row does not say, or not in the
// form that is written here.
func (r *Registry) name(row patterns.Item[patterns.Row]) (n typeName, ok bool) {
	text := ""
	if v, has := row.Property(r.property); has {
		if text, ok = v.(string); !ok {
			return typeName{}, false
		}
	}
	if r.byRowKey {
		name, _, found := strings.Cut(row.Key.Row, "_")
		if text == "" {
			text = "1"
		}
		version, err := strconv.Atoi(text)
		return typeName{name, version}, found && err == nil && version > 0
	}
	name, digits, found := strings.Cut(text, ":")
	version, err := strconv.Atoi(digits)
	return typeName{name, version}, found && err == nil && version > 0
}

// text is what the property holds for a type.
func (r *Registry) text(n typeName) string {
	if r.byRowKey {
		return strconv.Itoa(n.version)
	}
	return n.String()
}

// ErrWrongKey is a row key that does not begin with the name of the value's type, in
// a registry that tells types by row key. It matches [patterns.ErrBadKey].
var ErrWrongKey = fmt.Errorf("%w: the row key does not begin with the type's name", patterns.ErrBadKey)

func (r *Registry) checkKey(n typeName, key keys.Key) error {
	if r.byRowKey && !strings.HasPrefix(key.Row, n.name+"_") {
		return ErrWrongKey
	}
	return nil
}

// RowKeys is the row keys of all entities of a type, for a query of one type in a
// registry that tells types by row key.
func RowKeys(name string) keys.Range { return keys.Prefix(name + "_") }
