// Package clone copies entities with all that they refer to, so that a function that changes a copy
// in place leaves the original as it is.
package clone

import (
	"reflect"
	"strings"
	"sync"
	"time"
)

var timeType = reflect.TypeFor[time.Time]()

// What was found out about types; results are never evicted.
var (
	wholeTypes    sync.Map // reflect.Type to bool
	sharedStructs sync.Map // reflect.Type to bool
)

// Of returns a pointer to a copy of *entity, with copies of the slices, maps, pointers and interfaces
// in it, at every depth. What the original refers to in two ways, or in a circle, the copy does too.
//
// The copy shares with the original what reflection cannot set, or what is no data: unexported
// fields, fields that are tagged as no property or member, functions and channels, and a value that
// has such a field and is behind a pointer, for example a *big.Int.
func Of(entity any) any {
	original := reflect.ValueOf(entity).Elem()
	c := reflect.New(original.Type())
	c.Elem().Set(original)
	if shares(original.Type()) {
		copies{}.separate(c.Elem())
	}
	return c.Interface()
}

// Apart returns entity itself if a shallow copy of *entity shares nothing with it, otherwise Of(entity).
func Apart(entity any) any {
	if !shares(reflect.TypeOf(entity).Elem()) {
		return entity
	}
	return Of(entity)
}

// Whole reports whether no copy of a value of type t shares memory with the original. It is false
// for types with interfaces, because the values in them may have any type.
func Whole(t reflect.Type) bool {
	if known, ok := wholeTypes.Load(t); ok {
		return known.(bool)
	}
	w := whole(t, map[reflect.Type]bool{})
	wholeTypes.Store(t, w)
	return w
}

func whole(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || !shares(t) {
		return true
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return whole(t.Elem(), seen)
	case reflect.Map:
		return !shares(t.Key()) && whole(t.Elem(), seen)
	case reflect.Struct:
		return !anyField(t, func(f reflect.StructField) bool { return shares(f.Type) && (hidden(f) || !whole(f.Type, seen)) })
	}
	return false
}

// shares reports whether a value of type t can share memory with another that is assigned from it,
// and can be changed through it.
func shares(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Array:
		return t.Len() > 0 && shares(t.Elem())
	case reflect.Struct:
		known, ok := sharedStructs.Load(t)
		if !ok {
			known = !t.ConvertibleTo(timeType) && anyField(t, func(f reflect.StructField) bool { return shares(f.Type) }) // a location never changes
			sharedStructs.Store(t, known)
		}
		return known.(bool)
	}
	return false
}

// anyField reports whether is returns true for a field of the struct type t.
func anyField(t reflect.Type, is func(reflect.StructField) bool) bool {
	for i := range t.NumField() {
		if is(t.Field(i)) {
			return true
		}
	}
	return false
}

// hidden reports whether a field stays as it is when its struct is copied.
func hidden(f reflect.StructField) bool {
	tag, ok := f.Tag.Lookup("table")
	if !ok {
		tag = f.Tag.Get("json")
	}
	name, _, _ := strings.Cut(tag, ",")
	embedded := f.Anonymous && f.Type.Kind() == reflect.Struct // whose exported fields are those of the outer struct
	return !f.IsExported() && !embedded || name == "-" && tag == "-"
}

// sealed reports whether a value of type t has hidden fields that share memory.
func sealed(t reflect.Type) bool {
	switch {
	case !shares(t):
		return false
	case t.Kind() == reflect.Array:
		return sealed(t.Elem())
	case t.Kind() == reflect.Struct:
		return anyField(t, func(f reflect.StructField) bool { return shares(f.Type) && hidden(f) || sealed(f.Type) })
	}
	return false
}

// reference is what a pointer, a map or a slice refers to.
type reference struct {
	typ    reflect.Type
	at     uintptr
	length int
}

// copies are the copies of what was referred to so far.
type copies map[reference]reflect.Value

// separate replaces all that v refers to by copies.
func (c copies) separate(v reflect.Value) {
	t := v.Type()
	if !shares(t) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !hidden(t.Field(i)) {
				c.separate(v.Field(i))
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			c.separate(v.Index(i))
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(c.of(v.Elem()))
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || t.Kind() == reflect.Pointer && sealed(t.Elem()) {
			return
		}
		ref := reference{typ: t, at: v.Pointer()}
		if t.Kind() == reflect.Slice {
			ref.length = v.Len()
		}
		if _, ok := c[ref]; !ok {
			c.add(ref, v)
		}
		v.Set(c[ref])
	}
}

// of returns a copy of v, which need not be settable.
func (c copies) of(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	c.separate(n)
	return n
}

// add copies what v refers to, which is ref.
func (c copies) add(ref reference, v reflect.Value) {
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer:
		n := reflect.New(t.Elem()).Convert(t)
		n.Elem().Set(v.Elem())
		c[ref] = n
		c.separate(n.Elem())
	case reflect.Slice:
		n := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(n, v)
		c[ref] = n
		if shares(t.Elem()) {
			for i := range n.Len() {
				c.separate(n.Index(i))
			}
		}
	case reflect.Map:
		n := reflect.MakeMapWithSize(t, v.Len())
		c[ref] = n
		for i := v.MapRange(); i.Next(); {
			n.SetMapIndex(i.Key(), c.of(i.Value()))
		}
	}
}
