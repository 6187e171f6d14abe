package edm

import (
	"reflect"
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
