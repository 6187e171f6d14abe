package edm

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// mapValue writes a property of a map. Nil is omitted.
func (w *encoder) mapValue(name string, value any) error {
	if value == nil {
		return nil
	}
	f := fieldNamed(name)
	f.bits = 64
	switch v := value.(type) {
	case string:
		w.writePrefix(&f, String)
		return w.text(&f, v)
	case bool:
		w.writePrefix(&f, Boolean)
		w.dst = strconv.AppendBool(w.dst, v)
		w.sizer.add(&f, 1)
		return nil
	case int32:
		w.writePrefix(&f, Int32)
		w.integer(&f, int64(v))
		return nil
	case int64:
		w.writePrefix(&f, Int64)
		w.integer(&f, v)
		return nil
	case float64:
		w.writePrefix(&f, Double)
		return w.double(&f, v)
	case time.Time:
		w.writePrefix(&f, DateTime)
		return w.dateTime(&f, v)
	case [16]byte:
		w.writePrefix(&f, Guid)
		w.guid(&f, &v)
		return nil
	case []byte:
		if v == nil {
			return nil
		}
		w.writePrefix(&f, Binary)
		return w.binary(&f, v)
	}
	return w.anyValue(name, value)
}

// writePrefix writes what precedes a value, annotated unless the JSON value alone
// determines the type.
func (w *encoder) writePrefix(f *field, edm Type) {
	f.edm = edm
	if edm > Int32 {
		w.dst = append(append(w.dst, ',', '"'), f.name...)
		w.dst = append(append(w.dst, annotationSuffix...), `":"`...)
		w.dst = append(append(w.dst, edm.String()...), '"')
	}
	w.dst = append(append(w.dst, ',', '"'), f.name...)
	w.dst = append(w.dst, '"', ':')
}

// anyValue writes a value of any type that a struct field may have.
func (w *encoder) anyValue(name string, value any) error {
	v := reflect.ValueOf(value)
	f := field{tagOptions: tagOptions{name: name}, typ: v.Type()}
	if reason := f.resolve(); reason != "" {
		return &types.PropertyError{Property: name, Want: "a type of property", Got: v.Type().String()}
	}
	addressable := reflect.New(v.Type()).Elem()
	addressable.Set(v)
	if f.ptr {
		if v.IsNil() {
			return nil
		}
		addressable = v.Elem()
	}
	if f.omitted(addressable) {
		return nil
	}
	return w.field(&f, addressable)
}

// goValue returns the Go value of a property that has no field: string, bool, int32,
// int64, float64, time.Time, []byte or [16]byte; with sdkTypes also the types EDMInt64,
// EDMDateTime, EDMBinary and EDMGUID of aztables.
func (d *decoder) goValue(name string, t *token, sdkTypes bool) (any, error) {
	raw := d.data[t.start:t.end]
	switch edm := t.wireType(raw); edm {
	case String:
		return d.textOf(name, t)
	case Boolean:
		return t.kind == tokTrue, nil
	case Int32:
		i, ok := parseInt(raw)
		if ok && fitsInt(i, 32) {
			return int32(i), nil
		}
	case Int64:
		if i, ok := parseInt(raw); ok && !sdkTypes {
			if last, ok := d.boxed.(int64); !ok || last != i {
				d.boxed = i
			}
			return d.boxed, nil
		} else if ok {
			return aztables.EDMInt64(i), nil
		}
	case Double:
		if v, ok := t.double(raw); ok {
			return v, nil
		}
	case DateTime, Guid, Binary:
		if v := parsed(edm, d.unescaped(t), sdkTypes); v != nil {
			return v, nil
		}
	}
	want, got := "a property type", t.describe(raw)
	if edm := t.wireType(raw); edm != edmUnknown {
		want, got = edm.String(), "an invalid value"
	} else if t.edm != 0 && t.edm != edmUnknown {
		want = t.edm.String()
	}
	return nil, &types.PropertyError{Property: name, Want: want, Got: got}
}

// unknownMap returns the map in v for the properties that have no field, nil if the type
// has none. It is allocated if it is nil.
func (d *decoder) unknownMap(v reflect.Value, m *Meta) map[string]any {
	p := d.plan
	if !p.open() {
		return nil
	}
	if p.unknown != nil {
		v = p.unknown.settable(v)
	}
	if v.IsNil() {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(d.unknown)+3))
	}
	properties := mapOf(v)
	if p.isMap && !p.onlyProperties || p.unknown != nil && p.unknown.inline {
		properties[partitionKeyName], properties[rowKeyName] = m.PartitionKey, m.RowKey
		if !m.Timestamp.IsZero() {
			properties[timestampName] = m.Timestamp
		}
	}
	return properties
}

// mapProperties writes the properties of a map type, or those in a struct's map for
// unknown properties, in order of names.
func (w *encoder) mapProperties(p *plan, v reflect.Value, e *Envelope) error {
	m := p.unknownIn(v)
	for _, name := range propertyNames(m) {
		if e.Only != nil && !slices.Contains(e.Only, name) {
			continue
		}
		if err := w.mapEntry(p, m, name, e.Reserved || p.withReserved); err != nil {
			return err
		}
	}
	return nil
}

// unknownIn returns the map of the properties that have no field in the entity v, or nil.
func (p *plan) unknownIn(v reflect.Value) map[string]any {
	switch {
	case p.isMap:
		return mapOf(v)
	case p.unknown != nil:
		if fv, ok := p.unknown.get(v); ok {
			return mapOf(fv)
		}
	}
	return nil
}

// propertyNames returns the names of the properties of m in order.
func propertyNames(m map[string]any) []string {
	if len(m) == 0 {
		return nil
	}
	names := make([]string, 0, len(m))
	for name := range m {
		if !isSystem(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// mapEntry writes a property of a map, as the row stores it if it has not changed.
func (w *encoder) mapEntry(p *plan, m map[string]any, name string, reserved bool) error {
	if k := w.keptOf(name); k != nil {
		d := decoder{plan: p, level: levelTyped, scanner: scanner{data: w.notes.kept}}
		before, now := encoder{unlimited: true}, encoder{unlimited: true, notes: &notes{types: w.notes.types}}
		if was, err := d.goValue(name, &k.tok, p.sdkTypes); err == nil {
			err1, err2 := before.mapValue(name, was), now.mapProperty(p, m, name, reserved)
			if err1 == nil && err2 == nil && bytes.Equal(before.dst, now.dst) || err1 != nil && err2 != nil && reflect.DeepEqual(was, m[name]) {
				return w.member(*k)
			}
		}
	}
	if w.split != nil {
		w.begin(name)
	}
	return w.mapProperty(p, m, name, reserved)
}

func (w *encoder) mapProperty(p *plan, m map[string]any, name string, reserved bool) error {
	reason := checkName(name)
	if reason == "" && (name == stampName || IsReserved(name) && !reserved) {
		reason = "names that begin with azp_ are reserved"
	}
	if _, ok := p.index[name]; ok && reason == "" && !p.isMap {
		reason = "the struct has a field of this name"
	}
	if reason != "" {
		return &types.PropertyError{Property: name, Want: "a name that can be stored", Got: "this one: " + reason}
	}
	// A map may contain a value and its annotation, as JSON does.
	value, annotation := m[name], m[name+annotationSuffix]
	if text, ok := annotation.(string); ok && text != "" {
		return w.annotatedValue(name, value, text)
	}
	value, err := fromJSON(name, value, w.typeOf(name), !p.sdkTypes)
	if err != nil {
		return err
	}
	return w.mapValue(name, value)
}

// annotatedValue writes a value of a map as the type that annotation names.
func (w *encoder) annotatedValue(name string, value any, annotation string) error {
	if text, ok := value.(string); ok && annotation != String.String() {
		f := fieldNamed(name)
		return w.annotatedText(&f, text, annotation)
	}
	edm := typeNamed([]byte(annotation))
	value, err := fromJSON(name, value, edm, false)
	if err != nil {
		return err
	}
	if is := goType(value); edm == edmUnknown || is != 0 && is != edm {
		return &types.PropertyError{Property: name, Want: "a value of the annotated type", Got: annotation + " with another one"}
	}
	return w.mapValue(name, value)
}

// goType returns the type with which a value of a map is written, 0 for Go types that are not
// those of a read.
func goType(value any) Type {
	switch value.(type) {
	case string:
		return String
	case bool:
		return Boolean
	case int32:
		return Int32
	case int64, int:
		return Int64
	case float64:
		return Double
	case time.Time:
		return DateTime
	case [16]byte:
		return Guid
	case []byte:
		return Binary
	}
	return 0
}

// fromJSON returns a value of a map as a Go value of the type edm, with which the row stores the
// property, if the value is of a type that JSON is decoded into, and edm can represent it exactly.
// texts selects whether this includes texts. Other values are returned as they are, but a
// json.Number always as an integer or a float64.
func fromJSON(name string, value any, edm Type, texts bool) (any, error) {
	switch v := value.(type) {
	case json.Number:
		n, ok := numberAs(v, edm)
		if !ok {
			return nil, &types.PropertyError{Property: name, Want: "a number in the range of a property type", Got: "another json.Number"}
		}
		return n, nil
	case float64:
		if i, ok := wholeFloat(v); ok {
			return integerAs(i, edm, v), nil
		}
	case int:
		return integerAs(int64(v), edm, v), nil
	case string:
		if !texts {
			break
		}
		exact := parsed(edm, []byte(v), false)
		if at, ok := exact.(time.Time); ok && (at.Nanosecond()%100 != 0 || at.Year() < minYear) {
			break
		}
		if exact != nil {
			return exact, nil
		}
	}
	return value, nil
}

// integerAs returns a whole number as the type edm, or other if that is not a type of numbers or
// cannot represent it.
func integerAs(i int64, edm Type, other any) any {
	switch {
	case edm == Int32 && fitsInt(i, 32):
		return int32(i)
	case edm == Int64:
		return i
	case edm == Double && i <= maxExact && i >= -maxExact:
		if _, isFloat := other.(float64); !isFloat {
			return float64(i)
		}
	}
	return other
}

// numberAs returns a json.Number as the type edm if that can represent it, otherwise as the type
// that its text shows.
func numberAs(n json.Number, edm Type) (value any, ok bool) {
	s := scanner{data: []byte(n)}
	var t token
	if len(n) == 0 || !s.value(&t, 0) || t.kind != tokNumber || !s.atEnd() {
		return nil, false
	}
	if t.integer {
		i, ok := parseInt(s.data)
		switch {
		case !ok:
			return nil, false
		case fitsInt(i, 32):
			return integerAs(i, edm, int32(i)), true
		}
		return integerAs(i, edm, i), true
	}
	f, ok := parseFloat(s.data, 64)
	if i, whole := wholeFloat(f); whole {
		return integerAs(i, edm, f), ok
	}
	return f, ok
}

// wholeFloat returns a float64 as an integer, if it is one and represents it exactly.
func wholeFloat(f float64) (int64, bool) {
	if f != math.Trunc(f) || math.Abs(f) > maxExact || f == 0 && math.Signbit(f) {
		return 0, false
	}
	return int64(f), true
}

// parsed returns the Go value of a text in JSON, which is of the type edm, nil if that is another type or
// cannot represent it. sdkTypes is as in goValue.
func parsed(edm Type, text []byte, sdkTypes bool) any {
	switch edm {
	case Int64:
		if i, ok := parseInt(text); ok {
			return i
		}
	case DateTime:
		if at, ok := parseDateTime(text); ok && sdkTypes {
			return aztables.EDMDateTime(at)
		} else if ok {
			return at
		}
	case Guid:
		var g [16]byte
		if ok := parseGUID(&g, text); ok && sdkTypes {
			return aztables.EDMGUID(text)
		} else if ok {
			return g
		}
	case Binary:
		if b, ok := decodeBase64(nil, text); ok && sdkTypes {
			return aztables.EDMBinary(b)
		} else if ok {
			return b
		}
	}
	return nil
}

// mapOf returns the map v as a map[string]any.
func mapOf(v reflect.Value) map[string]any {
	if v.Type() == mapType {
		return *v.Addr().Interface().(*map[string]any)
	}
	return v.Convert(mapType).Interface().(map[string]any)
}
