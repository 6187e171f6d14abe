package largeentity

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/patterns"
)

// field is a field of T that is tagged blob.
type field struct {
	property string
	index    []int
	kind     fieldKind
	address  string // the property that contains the address of the blob, "" for none
}

// fieldKind determines how the value of a field is converted to the content of a blob.
type fieldKind uint8

const (
	bytesField  fieldKind = iota // unchanged
	textField                    // as UTF-8
	jsonField                    // as JSON
	streamField                  // as it is read from the Stream
)

var contentTypes = map[fieldKind]string{
	bytesField:  "application/octet-stream",
	textField:   "text/plain; charset=utf-8",
	jsonField:   "application/json",
	streamField: "application/octet-stream",
}

// blobFields returns the fields of the struct type t that are tagged blob. It returns an
// error if there are none, or if one cannot be stored.
func blobFields(t reflect.Type) ([]field, error) {
	properties, err := txn.Fields(t, true)
	if err != nil {
		return nil, err
	}
	var fields []field
	for _, property := range properties {
		invalid := func(reason string) error {
			return fmt.Errorf("type %v: field %s: %s", t, property.Name, reason)
		}
		if !property.Blob {
			if property.Type == streamType {
				return nil, invalid(`a Stream needs the tag table:",blob"`)
			}
			continue
		}
		f := field{property: property.Name, index: property.Index}
		switch {
		case property.Type == streamType:
			f.kind = streamField
		case property.JSON:
			f.kind = jsonField
		case property.Type.Kind() == reflect.String:
			f.kind = textField
		}
		parent := t
		for _, i := range property.Index[:len(property.Index)-1] {
			if parent = parent.Field(i).Type; parent.Kind() == reflect.Pointer {
				return nil, invalid("a field tagged blob must not be part of a struct that is embedded by pointer")
			}
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf(`type %v: no field has the tag table:",blob"`, t)
	}
	return fields, nil
}

// in returns the field of the struct to which v points.
func (f *field) in(v any) reflect.Value { return reflect.ValueOf(v).Elem().FieldByIndex(f.index) }

// isZero reports whether the field of *v is zero, by the rule by which the codec of rows
// omits a field.
func (f *field) isZero(v any) bool {
	value := f.in(v)
	if z, ok := value.Addr().Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return value.IsZero()
}

func (f *field) clear(v any) { f.in(v).SetZero() }

// encode returns the value of the field of *v as the content of a blob. The content may
// share memory with the value.
func (f *field) encode(v any) ([]byte, error) {
	value := f.in(v)
	switch f.kind {
	case bytesField:
		return value.Bytes(), nil
	case textField:
		if !utf8.ValidString(value.String()) {
			return nil, &patterns.PropertyError{Property: f.property, Want: "UTF-8", Got: "other bytes"}
		}
		return []byte(value.String()), nil
	}
	content, err := json.Marshal(value.Interface())
	if err != nil {
		return nil, &patterns.PropertyError{Property: f.property, Want: "a value that can be encoded as JSON", Got: value.Type().String(), Err: err}
	}
	return content, nil
}

// decode sets the field of *v to the content of a blob. It retains content.
func (f *field) decode(v any, content []byte) error {
	value := f.in(v)
	switch f.kind {
	case bytesField:
		value.SetBytes(content)
	case textField:
		value.SetString(string(content))
	default:
		value.SetZero()
		if err := json.Unmarshal(content, value.Addr().Interface()); err != nil {
			return &patterns.PropertyError{Property: f.property, Want: "a blob with JSON for the field", Got: "other content", Err: errors.Join(ErrCorrupt, err)}
		}
	}
	return nil
}
