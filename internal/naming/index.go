package naming

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Separator separates the parts of a key. Neither the name of an index nor escaped text
// contains it.
const Separator = "_"

// Definition is what defines an index. The fields but Type are those that the caller of
// the index package passed.
type Definition[T any] struct {
	Name      string
	Value     func(*T) (string, bool)
	Fold      bool
	Key       func(*T) (keys.Key, error)           // may be nil
	Partition func(partition, value string) string // may be nil

	Type *view.EntityType
	err  error // the first one that Refuse was called with
}

// Init checks the name and the function, and sets Type.
func (d *Definition[T]) Init() {
	d.Refuse(CheckName(d.Name))
	if d.Value == nil {
		d.Refuse(fmt.Errorf("function for the value: %w", patterns.ErrNil))
	}
	var err error
	d.Type, err = view.PrimaryTypeOf(reflect.TypeFor[T]())
	d.Refuse(err)
}

// Refuse makes err, if it is not nil, the error of the definition, unless it has one.
func (d *Definition[T]) Refuse(err error) {
	if d.err == nil {
		d.err = err
	}
}

// Err returns the error of the definition, nil if it is valid.
func (d *Definition[T]) Err() error { return d.err }

const maxName = 64

// CheckName accepts 1 to 64 letters, digits, '-' and '.'. They do not include the
// [Separator], which ends the name in a key, so no name with its separator is a prefix of
// another.
func CheckName(name string) error {
	illegal := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
	if name == "" || len(name) > maxName || illegal {
		return fmt.Errorf("name: %w: it needs 1 to %d letters, digits, '-' and '.'", keys.ErrBadKey, maxName)
	}
	return nil
}

// NeedsKey refuses the definition if the key of an entity cannot be determined.
func (d *Definition[T]) NeedsKey() {
	if d.err == nil && d.Key == nil && !d.Type.MayHaveKeys() {
		d.Refuse(fmt.Errorf("%v has no fields PartitionKey and RowKey, and Options.Key is not set: %w", reflect.TypeFor[T](), keys.ErrBadKey))
	}
}

// Primary returns the key of the entity e.
func (d *Definition[T]) Primary(e *T) (keys.Key, error) {
	if d.Key != nil {
		return d.Key(e)
	}
	key, ok := d.Type.Key(e)
	if !ok {
		return keys.Key{}, fmt.Errorf("the primary has no PartitionKey and RowKey: %w", keys.ErrBadKey)
	}
	return key, nil
}

// Normalize returns value as the index stores it: in lower case if the index folds.
func (d *Definition[T]) Normalize(value string) string {
	if d.Fold {
		return Fold(value)
	}
	return value
}

// PartitionOf returns the partition key of the row of value: what Partition returns for it
// and the partition key of the primaries, or otherwise if there is no such function.
func (d *Definition[T]) PartitionOf(partition, value, otherwise string) string {
	if d.Partition == nil {
		return otherwise
	}
	return d.Partition(partition, d.Normalize(value))
}

// Fold returns value in lower case. Invalid UTF-8 is returned unchanged, because
// [strings.ToLower] would replace it by valid text.
func Fold(value string) string {
	if !utf8.ValidString(value) {
		return value
	}
	return strings.ToLower(value)
}

// Client returns the client of the table that contains the rows of a view of the store: client or, if
// that is nil, that of the primaries' own table. It fails with [patterns.ErrBadView] if the view is
// invalid, or if the store does not have it.
func Client[T any](store *patterns.Store[T], v patterns.View[T], client *aztables.Client) (*aztables.Client, error) {
	if _, err := v.Engine(); err != nil {
		return nil, fmt.Errorf("%w: %w", patterns.ErrBadView, err)
	}
	if store == nil {
		return nil, fmt.Errorf("store: %w", patterns.ErrNil)
	}
	if !slices.Contains(store.Views(), v) {
		return nil, fmt.Errorf("not one of the store's views: %w", patterns.ErrBadView)
	}
	if client == nil {
		client = store.Table().Client()
	}
	return client, nil
}
