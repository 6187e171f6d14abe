package edm

import (
	"encoding/json"
	"reflect"
)

// A type with JSON methods is stored as the string, number or boolean that MarshalJSON
// returns, as aztables stores it.

// scalarType returns the property type of the zero value of a type with JSON methods, and
// Edm.String if that is null, an error or a panic. It returns 0 for nested JSON.
func scalarType(t reflect.Type) (edm Type) {
	defer func() {
		if recover() != nil { // the method need not accept a zero value
			edm = String
		}
	}()
	text, err := json.Marshal(reflect.New(t).Interface())
	if err != nil {
		return String
	}
	switch text[0] {
	case '{', '[':
		return 0
	case 't', 'f':
		return Boolean
	case '"', 'n':
		return String
	}
	return Double
}

// jsonScalar writes a value as MarshalJSON returns it.
func (w *encoder) jsonScalar(f *field, v reflect.Value) error {
	text, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return &PropertyError{Property: f.name, Want: "JSON of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
	}
	var t token
	s := scanner{data: text}
	s.value(&t, 1)
	raw := text[t.start:t.end]
	switch t.kind {
	case tokNull:
		return nil
	case tokTrue, tokFalse:
		return w.mapValue(f.name, t.kind == tokTrue)
	case tokNumber:
		x, _ := parseFloat(raw, 64)
		if t.wireType(raw) == Int32 && (!f.kept || f.edm == Int32) {
			return w.mapValue(f.name, int32(x))
		}
		return w.mapValue(f.name, x)
	case tokString:
		raw, _ = unescape(nil, raw)
		if f.kept && f.edm != String && f.edm > Int32 {
			return w.annotatedText(f, string(raw), f.edm.String())
		}
		return w.mapValue(f.name, string(raw))
	}
	return &PropertyError{Property: f.name, Want: "a string, a number or a boolean as JSON of " + f.typ.String(), Got: "nested JSON"}
}

// setScalar reads a value with UnmarshalJSON.
func (d *decoder) setScalar(t *token, v reflect.Value) bool {
	start, end := t.start, t.end
	if t.kind == tokString {
		start, end = start-1, end+1
	}
	// The method may retain the text, so it must not be part of the body.
	text := append([]byte(nil), d.data[start:end]...)
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text) == nil
}
