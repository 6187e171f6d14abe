// Package indexed is what the indexes of a Store have in common: a name, the value that
// entities are found by, their keys, and the table of the index's rows.
package indexed

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Separator stands between the parts of a key. No name of an index and no escaped text
// holds it.
const Separator = "_"

// By is what entities are found by, and how they are taken apart.
type By[T any] struct {
	Name  string
	Value func(*T) (string, bool)
	Codec *edm.Codec
	KeyOf func(*T) (keys.Key, error) // gives a primary's key; nil where T has fields for it
}

// New checks the name, the function, and that there are no two options.
func New[T, O any](name string, value func(*T) (string, bool), opts []O) (by By[T], o O, err error) {
	by = By[T]{Name: name, Value: value}
	if err := checkName(name); err != nil {
		return by, o, err
	}
	switch {
	case value == nil:
		return by, o, fmt.Errorf("function for the value: %w", patterns.ErrNil)
	case len(opts) > 1:
		return by, o, errors.New("more than one Options")
	case len(opts) == 1:
		o = opts[0]
	}
	by.Codec, err = edm.CodecFor(reflect.TypeFor[T]())
	return by, o, err
}

const maxName = 64

// checkName takes 1 to 64 letters, digits, '-' and '.'. There is no "_" among them,
// which ends the name in a key: so no name with its "_" begins like another.
func checkName(name string) error {
	illegal := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
	if name == "" || len(name) > maxName || illegal {
		return fmt.Errorf("name: %w: it needs 1 to %d letters, digits, '-' and '.'", keys.ErrBadKey, maxName)
	}
	return nil
}

// HasKey refuses a T that no key can be had of.
func (by *By[T]) HasKey() error {
	if !by.Codec.HasKeys() && by.KeyOf == nil && !by.Codec.Open() {
		return fmt.Errorf("%v has no fields PartitionKey and RowKey, and Options.Key is not set: %w", reflect.TypeFor[T](), keys.ErrBadKey)
	}
	return nil
}

// Key is the primary's key.
func (by *By[T]) Key(e *T) (keys.Key, error) {
	if by.KeyOf != nil {
		return by.KeyOf(e)
	}
	pk, rk, ok := by.Codec.Keys(e)
	if !ok {
		return keys.Key{}, fmt.Errorf("the primary has no PartitionKey and RowKey: %w", keys.ErrBadKey)
	}
	return keys.Key{Partition: pk, Row: rk}, nil
}

// Fold is value in lower case, but for what is no text, which that would hide.
func Fold(value string) string {
	if !utf8.ValidString(value) {
		return value
	}
	return strings.ToLower(value)
}

// Rows is the table of the rows of a view, which must be one of store's: client, or the
// primaries' own where that is nil.
func Rows[R, T any](store *patterns.Store[T], view patterns.View[T], client *aztables.Client) (*patterns.Table[R], error) {
	if !slices.Contains(store.Views(), view) {
		return nil, fmt.Errorf("index %q is not one of the store's views: %w", view.Name(), patterns.ErrBadView)
	}
	if client == nil {
		client = store.Table().Client()
	}
	return patterns.NewTable(client, &patterns.TableOptions[R]{Keyless: true})
}
