package edm

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
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
		return &PropertyError{Property: name, Want: "a type of property", Got: v.Type().String()}
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
		if i, ok := parseInt(raw); ok {
			if sdkTypes {
				return aztables.EDMInt64(i), nil
			}
			if last, ok := d.boxed.(int64); !ok || last != i {
				d.boxed = i
			}
			return d.boxed, nil
		}
	case Double:
		if v, ok := t.double(raw); ok {
			return v, nil
		}
	case DateTime:
		if v, ok := parseDateTime(d.unescaped(t)); ok {
			if sdkTypes {
				return aztables.EDMDateTime(v), nil
			}
			return v, nil
		}
	case Guid:
		var g [16]byte
		if parseGUID(&g, d.unescaped(t)) {
			if sdkTypes {
				return aztables.EDMGUID(d.unescaped(t)), nil
			}
			return g, nil
		}
	case Binary:
		if b, ok := decodeBase64(nil, d.unescaped(t)); ok {
			if sdkTypes {
				return aztables.EDMBinary(b), nil
			}
			return b, nil
		}
	}
	want, got := "a property type", t.describe(raw)
	if edm := t.wireType(raw); edm != edmUnknown {
		want, got = edm.String(), "an invalid value"
	} else if t.edm != 0 && t.edm != edmUnknown {
		want = t.edm.String()
	}
	return nil, &PropertyError{Property: name, Want: want, Got: got}
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
	if p.isMap || p.unknown.inline {
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
		if err := w.mapProperty(p, m, name, e.Reserved || p.withReserved); err != nil {
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

func (w *encoder) mapProperty(p *plan, m map[string]any, name string, reserved bool) error {
	reason := checkName(name)
	if reason == "" && (name == stampName || IsReserved(name) && !reserved) {
		reason = "names that begin with azp_ are reserved"
	}
	if _, ok := p.index[name]; ok && reason == "" && !p.isMap {
		reason = "the struct has a field of this name"
	}
	if reason != "" {
		return &PropertyError{Property: name, Want: "another name", Got: reason}
	}
	// A map may contain a text and its annotation, as JSON does.
	text, isText := m[name].(string)
	annotation, _ := m[name+annotationSuffix].(string)
	if isText && annotation != "" && annotation != String.String() {
		f := fieldNamed(name)
		return w.annotatedText(&f, text, annotation)
	}
	return w.mapValue(name, m[name])
}

// mapOf returns the map v as a map[string]any.
func mapOf(v reflect.Value) map[string]any {
	if v.Type() == mapType {
		return *v.Addr().Interface().(*map[string]any)
	}
	return v.Convert(mapType).Interface().(map[string]any)
}
