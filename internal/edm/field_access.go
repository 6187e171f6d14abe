package edm

import "reflect"

// get finds the field's value in the struct v. It is false when a pointer on the
// way to it, or the field itself as an optional value, is nil.
func (f *field) get(v reflect.Value) (reflect.Value, bool) {
	if f.flat {
		v = v.Field(f.first)
	} else {
		for i, at := range f.index {
			if i > 0 && v.Kind() == reflect.Pointer {
				if v.IsNil() {
					return v, false
				}
				v = v.Elem()
			}
			v = v.Field(at)
		}
	}
	if f.ptr {
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	return v, true
}

// reach finds the field's place in the struct v, and makes what pointers lead to.
func (f *field) reach(v reflect.Value) reflect.Value {
	if f.flat {
		v = v.Field(f.first)
	} else {
		for i, at := range f.index {
			if i > 0 && v.Kind() == reflect.Pointer {
				v = made(v)
			}
			v = v.Field(at)
		}
	}
	if f.ptr {
		return made(v)
	}
	return v
}

func made(v reflect.Value) reflect.Value {
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}

// bagOf is the map that v, of a map type, is.
func bagOf(v reflect.Value) map[string]any {
	if v.Type() == bagType {
		return *v.Addr().Interface().(*map[string]any)
	}
	return v.Convert(bagType).Interface().(map[string]any)
}
