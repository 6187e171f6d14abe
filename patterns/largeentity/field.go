package largeentity

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/edm"
)

// field is a field of T that is tagged blob.
type field struct {
	name  string // of the property
	index []int
	form  form
}

// form is how the field's value becomes the content of a blob.
type form uint8

const (
	octets form = iota // as they are
	text               // as it is, UTF-8
	asJSON             //
	stream             // as it is read
)

var contentTypes = map[form]string{
	octets: "application/octet-stream", text: "text/plain; charset=utf-8", asJSON: "application/json", stream: "application/octet-stream",
}

// fieldsOf lists the fields of t that are tagged blob.
func fieldsOf(t reflect.Type) ([]field, error) {
	codec, err := edm.CodecFor(t)
	if err != nil {
		return nil, err
	}
	var fields []field
	for _, w := range codec.Fields() {
		bad := func(reason string) error {
			return &edm.FieldError{Type: t.String(), Field: w.Name, Reason: reason}
		}
		if !w.Blob {
			if w.Type == streamType {
				return nil, bad(`a Stream needs the tag table:",blob"`)
			}
			continue
		}
		f := field{name: w.Name, index: w.Index}
		switch {
		case w.Type == streamType:
			f.form = stream
		case w.JSON:
			f.form = asJSON
		case w.EDM == edm.String:
			f.form = text
		}
		inner := t
		for _, i := range w.Index[:len(w.Index)-1] {
			if inner = inner.Field(i).Type; inner.Kind() == reflect.Pointer {
				return nil, bad("a field tagged blob cannot stand in a struct embedded by pointer")
			}
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, &edm.FieldError{Type: t.String(), Reason: `no field has the tag table:",blob"`}
	}
	return fields, nil
}

// in is the field of the struct that v points to.
func (f *field) in(v any) reflect.Value { return reflect.ValueOf(v).Elem().FieldByIndex(f.index) }

// isZero answers as the row's codec does, which leaves a zero field out.
func (f *field) isZero(v any) bool {
	at := f.in(v)
	if z, ok := at.Addr().Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return at.IsZero()
}

func (f *field) clear(v any) { f.in(v).SetZero() }

// content is the value as a blob holds it. It may share the value's memory.
func (f *field) content(v any) ([]byte, error) {
	at := f.in(v)
	switch f.form {
	case octets:
		return at.Bytes(), nil
	case text:
		if !utf8.ValidString(at.String()) {
			return nil, &edm.PropertyError{Property: f.name, Want: "UTF-8", Got: "other bytes"}
		}
		return []byte(at.String()), nil
	}
	content, err := json.Marshal(at.Interface())
	if err != nil {
		return nil, &edm.PropertyError{Property: f.name, Want: "a value that JSON can hold", Got: at.Type().String(), Err: err}
	}
	return content, nil
}

// set gives the field the value that a blob held. It keeps content.
func (f *field) set(v any, content []byte) error {
	at := f.in(v)
	switch f.form {
	case octets:
		at.SetBytes(content)
	case text:
		at.SetString(string(content))
	default:
		at.SetZero()
		if err := json.Unmarshal(content, at.Addr().Interface()); err != nil {
			return &Error{Op: "get blob", Property: f.name, err: err, kind: fmt.Errorf("%w: it does not fit the field", ErrCorrupt)}
		}
	}
	return nil
}
