package edm

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// bagValue writes a property of a map. Nil is left out.
func (w *encoder) bagValue(name string, value any) error {
	if value == nil {
		return nil
	}
	f := field{tagOptions: tagOptions{name: name}, cost: nameCost(name), bits: 64}
	switch v := value.(type) {
	case string:
		w.lead(&f, String)
		return w.text(&f, v)
	case bool:
		w.lead(&f, Boolean)
		w.dst = strconv.AppendBool(w.dst, v)
		w.sizer.add(&f, 1)
		return nil
	case int32:
		w.lead(&f, Int32)
		w.integer(&f, int64(v))
		return nil
	case int64:
		w.lead(&f, Int64)
		w.integer(&f, v)
		return nil
	case float64:
		w.lead(&f, Double)
		return w.double(&f, v)
	case time.Time:
		w.lead(&f, DateTime)
		return w.dateTime(&f, v)
	case []byte:
		if v == nil {
			return nil
		}
		w.lead(&f, Binary)
		return w.binary(&f, v)
	}
	return w.anyValue(name, value)
}

// lead writes what stands before a value, in the annotated form wherever that is
// not the only one.
func (w *encoder) lead(f *field, edm Type) {
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
	if f.left(addressable) {
		return nil
	}
	return w.field(&f, addressable)
}

// bagged is the Go value of a property that has no field: string, bool, int32,
// int64, float64, time.Time, []byte or [16]byte; with ofSDK the types EDMInt64,
// EDMDateTime, EDMBinary and EDMGUID of aztables.
func (d *decoder) bagged(name string, t *token, ofSDK bool) (any, error) {
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
			if ofSDK {
				return aztables.EDMInt64(i), nil
			}
			return i, nil
		}
	case Double:
		if v, ok := t.double(raw); ok {
			return v, nil
		}
	case DateTime:
		if v, ok := parseDateTime(d.plain(t)); ok {
			if ofSDK {
				return aztables.EDMDateTime(v), nil
			}
			return v, nil
		}
	case Guid:
		var g [16]byte
		if parseGUID(&g, d.plain(t)) {
			if ofSDK {
				return aztables.EDMGUID(d.plain(t)), nil
			}
			return g, nil
		}
	case Binary:
		if b, ok := decodeBase64(nil, d.plain(t)); ok {
			if ofSDK {
				return aztables.EDMBinary(b), nil
			}
			return b, nil
		}
	}
	want := "a property type"
	if t.edm != 0 && t.edm != edmUnknown {
		want = t.edm.String()
	}
	return nil, &PropertyError{Property: name, Want: want, Got: t.got(raw)}
}

// openBag is the map that takes the others, nil for a struct without one.
func (d *decoder) openBag(v reflect.Value, m *Meta) map[string]any {
	p := d.plan
	switch {
	case p.isMap:
		if v.IsNil() {
			v.Set(reflect.MakeMapWithSize(v.Type(), len(d.others)+3))
		}
		bag := bagOf(v)
		bag[partitionKeyName], bag[rowKeyName] = m.PartitionKey, m.RowKey
		if !m.Timestamp.IsZero() {
			bag[timestampName] = m.Timestamp
		}
		return bag
	case p.bag != nil:
		v = p.bag.reach(v)
		if v.IsNil() {
			v.Set(reflect.MakeMapWithSize(v.Type(), len(d.others)))
		}
		return bagOf(v)
	}
	return nil
}

// bag writes the properties of a map type, or of a struct's bag, in order of names.
func (w *encoder) bag(p *plan, v reflect.Value, reserved bool) error {
	m := p.bagIn(v)
	for _, name := range bagNames(m) {
		if err := w.bagProperty(p, m, name, reserved); err != nil {
			return err
		}
	}
	return nil
}

// bagIn is the map of the properties that have no field, in the entity v.
func (p *plan) bagIn(v reflect.Value) map[string]any {
	switch {
	case p.isMap:
		return bagOf(v)
	case p.bag != nil:
		if fv, ok := p.bag.get(v); ok {
			return *fv.Addr().Interface().(*map[string]any)
		}
	}
	return nil
}

// bagNames lists the properties of m in order.
func bagNames(m map[string]any) []string {
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

func (w *encoder) bagProperty(p *plan, m map[string]any, name string, reserved bool) error {
	reason := checkName(name)
	if reason == "" && (name == stampName || isReserved(name) && !reserved) {
		reason = "names that begin with azp_ are reserved"
	}
	if _, ok := p.index[name]; ok && reason == "" && !p.isMap {
		reason = "the struct has a field of this name"
	}
	if reason != "" {
		return &PropertyError{Property: name, Want: "another name", Got: reason}
	}
	// A map may hold a text and its annotation, as JSON does.
	text, isText := m[name].(string)
	note, _ := m[name+annotationSuffix].(string)
	if isText && note != "" && note != String.String() {
		return w.notedText(&field{tagOptions: tagOptions{name: name}, cost: nameCost(name)}, text, note)
	}
	return w.bagValue(name, m[name])
}

// bagOf is the map that v, of a map type, is.
func bagOf(v reflect.Value) map[string]any {
	if v.Type() == bagType {
		return *v.Addr().Interface().(*map[string]any)
	}
	return v.Convert(bagType).Interface().(map[string]any)
}
