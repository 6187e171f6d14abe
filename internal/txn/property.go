package txn

import (
	"reflect"

	"github.com/azpatterns/azpatterns/internal/edm"
)

// Fields returns the properties that entities of type t have fields for, in the order in
// which they are written. The error states why t cannot be stored.
func Fields(t reflect.Type) ([]edm.Field, error) {
	codec, err := edm.CodecFor(t)
	if err != nil {
		return nil, err
	}
	return codec.Fields(), nil
}

// IsOwnName reports whether callers may have a property with that name of their own.
func IsOwnName(name string) bool { return edm.IsOwnName(name) }
