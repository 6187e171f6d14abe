package edm

import (
	"bytes"
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// A storedType is a property that was read with another type than its field has, or that the row
// does not have. Other programs may depend on it, so the property is written back with that type,
// or not added.
type storedType struct {
	name string
	edm  Type // absent: the row does not have the property
}

// typeOptions are the options of the table tag that declare the type of a property.
var typeOptions = map[string]Type{
	"string": String, "int32": Int32, "int64": Int64, "double": Double, "datetime": DateTime, "guid": Guid, "binary": Binary,
}

// canStore reports whether values of the field can be written as the type t.
func (f *field) canStore(t Type) bool {
	switch f.shape {
	case shapeString:
		return t == String || t == Int64 || t >= DateTime
	case shapeInt, shapeUint:
		return t == String || t == Int32 || t == Int64 || t == Double
	case shapeScalar:
		return false // MarshalJSON decides
	case shapeText, shapeJSON, shapeLiteral:
		return t == String
	}
	return t == f.native || t == String
}

// storedType returns the type of the value t of the field f if it is not the type with which the
// field is written. Otherwise it returns 0.
func (d *decoder) storedType(f *field, t *token) Type {
	if f.declared || f.annotationAt > 0 {
		return 0
	}
	stored := t.wireType(d.data[t.start:t.end])
	switch {
	case stored == edmUnknown:
		return 0
	case f.shape == shapeScalar && t.edm == 0:
		// The JSON shows the type, except that a whole number is written as an Edm.Int32.
		if stored == Double {
			return Double
		}
		return 0
	case f.shape == shapeLiteral && f.edm == Double: // an Edm.Double is new only if it is no whole number
		return stored
	case stored == f.edm:
		return 0
	}
	return stored
}

// as returns the field as it is written if the row stores its property as the type t. If a
// float does not fit an integer type, its own type is used, because clients that do not
// annotate store a float as an integer whenever it is whole.
func (f *field) as(t Type, v reflect.Value) *field {
	if f.declared {
		return f
	}
	if f.shape == shapeFloat && t == Int32 {
		x := v.Float()
		if x != math.Trunc(x) || x < math.MinInt32 || x > math.MaxInt32 || x == 0 && math.Signbit(x) {
			return f
		}
	} else if f.shape == shapeString || f.shape != shapeScalar && f.shape != shapeLiteral && !f.canStore(t) {
		return f // the item was read as another Go type
	}
	as := *f
	as.edm, as.kept = t, true
	as.prefix, as.altPrefix = prefixes(f.name, t)
	return &as
}

// OnlyFields returns what a merge needs of u: how the row stores the properties with fields.
func (u *Unknown) OnlyFields() Unknown { return Unknown{notes: u.notes} }

// unfit returns the error for a value that the type of its property cannot represent.
func (f *field) unfit() error {
	e := &types.PropertyError{Property: f.name, Want: f.edm.String(), Got: "a number out of its range"}
	if f.kept {
		e.Want += ", as the row stores it (a tag such as `table:\",int64\"` changes the type)"
	}
	return e
}

// maxExact is the largest integer up to which a double represents every integer.
const maxExact = 1 << 53

// number writes an integer as the type of f.
func (w *encoder) number(f *field, i int64) error {
	switch {
	case f.edm == Int32 && !fitsInt(i, 32), f.edm == Double && (i > maxExact || i < -maxExact):
		return f.unfit()
	case f.edm == Double:
		return w.double(f, float64(i))
	}
	w.dst = append(w.dst, f.prefix...)
	w.integer(f, i)
	return nil
}

// wholeNumber reads an Edm.Double that is a whole number in the range that a double
// represents exactly.
func wholeNumber(raw []byte) (int64, bool) {
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > maxExact {
		return 0, false
	}
	return int64(x), true
}

// timeText writes a time as an Edm.String, in the form of encoding/json: in UTC, or with its own
// offset if the row has one. The text cannot have an offset of seconds.
func (w *encoder) timeText(f *field, t time.Time) error {
	if _, offset := t.Zone(); !f.zoned || offset%60 != 0 {
		t = t.UTC()
	}
	text, err := t.MarshalText()
	if err != nil {
		return &types.PropertyError{Property: f.name, Want: "a year from 0 to 9999", Got: "a year outside it"}
	}
	w.dst = append(w.dst, f.prefix...)
	return w.text(f, string(text))
}

// timeOf returns the time in a field of shapeTime or shapeEDMTime.
func (f *field) timeOf(v reflect.Value) time.Time {
	if f.shape == shapeEDMTime {
		return time.Time(*v.Addr().Interface().(*aztables.EDMDateTime))
	}
	return *v.Addr().Interface().(*time.Time)
}

// A type of shapeLiteral is a number or a boolean in JSON, and can be text too: json.Number, and
// types that have MarshalText in addition to a MarshalJSON that returns a number or a boolean, such
// as big.Int. A program that stores such values with encoding/json and aztables stores the number.

// setLiteral reads a number or a boolean with UnmarshalJSON, and text with UnmarshalText.
func (d *decoder) setLiteral(t *token, v reflect.Value) bool {
	if t.edm >= DateTime {
		return false
	}
	// The methods may retain the text, so it must not be part of the body.
	text := append([]byte(nil), d.unescaped(t)...)
	isText := t.kind == tokString && t.edm != Int64 && t.edm != Double
	number := t.kind != tokString && t.kind != tokNested || isNumber(text)
	if v.Type() == numberType {
		if t.kind != tokNumber && t.kind != tokString || !number {
			return false
		}
		v.SetString(string(text))
		return true
	}
	switch {
	case isText:
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text) == nil
	case !number:
		return false
	}
	m := v.Addr().Interface().(json.Unmarshaler)
	if m.UnmarshalJSON(text) == nil {
		return true
	}
	i, ok := wholeNumber(text) // a whole number as an Edm.Double, which types of integers do not read
	return ok && m.UnmarshalJSON(strconv.AppendInt(nil, i, 10)) == nil
}

// literal writes a value as the number or boolean that MarshalJSON returns, or as text. Text is for
// whole numbers that an Edm.Int32 cannot represent: UnmarshalJSON would read neither the text of
// an Edm.Int64 nor the decimal point of an Edm.Double. It is also for a number with too many digits.
func (w *encoder) literal(f *field, v reflect.Value) error {
	text, err := json.Marshal(v.Addr().Interface())
	if v.Type() == numberType {
		if err != nil { // it contains the text
			return &types.PropertyError{Property: f.name, Want: "a number", Got: "other text"}
		}
		return w.jsonNumber(f, text)
	}
	if err != nil {
		return &types.PropertyError{Property: f.name, Want: "JSON of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
	}
	switch c := text[0]; {
	case c == 'n':
		return nil
	case f.edm == String:
	case c == 't' || c == 'f':
		return w.mapValue(f.name, c == 't')
	case isNumber(text):
		n, _ := numberAs(json.Number(text), f.storedAs())
		switch n := n.(type) {
		case int32:
			return w.mapValue(f.name, n)
		case int64:
			if f.storedAs() == Int64 {
				return w.mapValue(f.name, n)
			}
		case float64:
			if exactDouble(text, n) {
				return w.mapValue(f.name, n)
			}
		}
		if f.kept {
			return f.unfit()
		}
	}
	as := *f
	as.prefix, _ = prefixes(f.name, String)
	return w.marshaled(&as, v)
}

// jsonNumber writes a json.Number, whose text is valid: a whole number as an Edm.Int32, or as an
// Edm.Int64 if it needs 64 bits, others as an Edm.Double.
func (w *encoder) jsonNumber(f *field, text []byte) error {
	if f.edm == String {
		write(w, f.prefix)
		return w.text(f, string(text))
	}
	n, ok := numberAs(json.Number(text), f.storedAs())
	if _, isLong := n.(int64); ok && (isLong || f.storedAs() != Int64) {
		return w.mapValue(f.name, n)
	}
	x, ok := parseFloat(text, 64)
	if !ok || f.storedAs() == Int64 {
		return f.unfit()
	}
	return w.mapValue(f.name, x)
}

// storedAs returns the type with which the row stores the property, 0 if the value decides.
func (f *field) storedAs() Type {
	if f.kept {
		return f.edm
	}
	return 0
}

// exactDouble reports whether x, which was parsed from a number, is written with the value of that
// number. It returns false if in doubt. A number of at most 15 digits is the shortest one of its
// float64.
func exactDouble(number []byte, x float64) bool {
	if string(appendFloat(nil, x, 64)) == string(number) {
		return true
	}
	if x == 0 {
		return !bytes.ContainsAny(number, "123456789")
	}
	digits := 0
	for _, c := range number {
		if isDigit(c) {
			digits++
		}
	}
	return digits <= 15 && math.Abs(x) >= 0x1p-1022
}

// isNumber reports whether the text is a number of JSON, without white space.
func isNumber(text []byte) bool {
	var t token
	s := scanner{data: text}
	return len(text) > 0 && s.value(&t, 0) && t.kind == tokNumber && t.start == 0 && int(t.end) == len(text)
}
