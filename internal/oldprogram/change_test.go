package oldprogram

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// change is a change of one field, or of one member inside a field with the option json.
type change struct {
	field
	path    []any // of the member: names and indices
	set     func(row reflect.Value)
	removes bool // the property is not written afterwards
}

// drawChange draws a change of a row with the value v, nil if there is none that changes what is stored.
func drawChange(r *rand.Rand, v reflect.Value, row stored) *change {
	fields := slices.DeleteFunc(fieldsOf(v.Type()), func(f field) bool { return strings.Contains(f.name, "@") || f.name == "ID" })
	for range 50 {
		c := &change{field: pick(r, fields...)}
		was := fieldOf(v, c.index)
		if !was.IsValid() {
			continue // of an embedded struct that is nil
		}
		set := leaf(r, c.typ, row[c.name].edm)
		switch c.name {
		case "Mail":
			mail := "m" + randomKey(r)
			set = func(v reflect.Value) { v.SetString(mail) }
		case "Group":
			group := pick(r, groups...)
			set = func(v reflect.Value) { v.SetString(group) }
		}
		if zero := c.omits && c.typ.Kind() == reflect.Struct && r.IntN(4) == 0; c.json && zero {
			set = reflect.Value.SetZero
		} else if c.json {
			set = c.member(r, was)
		}
		if set == nil {
			continue
		}
		c.set = func(row reflect.Value) { set(fieldOf(row, c.index)) }
		now := clone(was)
		set(now)
		if sameValue(now, was) {
			continue
		}
		collection := now.Kind() == reflect.Slice || now.Kind() == reflect.Map
		c.removes = c.omits && (now.IsZero() || collection && now.Len() == 0)
		return c
	}
	return nil
}

// leaf returns a function that sets a value to a random one of its type. An Edm.DateTime has no more digits than 7, and no year
// before 1601, an Edm.Int64 only digits.
func leaf(r *rand.Rand, t reflect.Type, edm string) func(reflect.Value) {
	to := reflect.New(t).Elem()
	fill(r, to)
	for e := to; ; e = e.Elem() {
		if e.Kind() == reflect.Pointer && !e.IsNil() {
			continue
		}
		if e.CanAddr() {
			switch p := e.Addr().Interface().(type) {
			case *time.Time:
				*p = storable(*p, edm)
			case *Stamp:
				p.Time = storable(p.Time, edm)
			case *json.Number:
				if edm == "Edm.Int64" { // which cannot represent any other number
					*p = json.Number(strconv.FormatInt(r.Int64(), 10))
				}
			}
		}
		break
	}
	return func(v reflect.Value) { v.Set(clone(to)) }
}

func storable(t time.Time, edm string) time.Time {
	if edm != "Edm.String" && t.Year() < 1601 {
		t = time.Date(1999, 12, 31, 23, 0, 0, 0, t.Location())
	}
	return t.Truncate(100)
}

// member draws a member of the value v, appends its path to that of c, and returns a function that changes it.
func (c *change) member(r *rand.Rand, v reflect.Value) func(reflect.Value) {
	whole := func() func(reflect.Value) {
		to := reflect.New(v.Type()).Elem()
		fill(r, to)
		if k := to.Kind(); (k == reflect.Slice || k == reflect.Map || k == reflect.Pointer || k == reflect.Interface) && to.IsNil() {
			return nil
		}
		return func(v reflect.Value) { v.Set(clone(to)) }
	}
	if isScalar(v.Type()) {
		return whole()
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := slices.DeleteFunc(reflect.VisibleFields(v.Type()), func(f reflect.StructField) bool { return !f.IsExported() })
		f := pick(r, fields...)
		c.path = append(c.path, memberName(f))
		set := c.member(r, v.FieldByIndex(f.Index))
		if set == nil {
			return nil
		}
		return func(v reflect.Value) { set(v.FieldByIndex(f.Index)) }
	case reflect.Pointer:
		if v.IsNil() {
			return whole()
		}
		set := c.member(r, v.Elem())
		if set == nil {
			return nil
		}
		return func(v reflect.Value) { set(v.Elem()) }
	case reflect.Interface:
		if v.IsNil() || v.Elem().Kind() != reflect.Map && v.Elem().Kind() != reflect.Slice {
			return whole()
		}
		set := c.member(r, v.Elem())
		if set == nil {
			return nil
		}
		return func(v reflect.Value) {
			e := reflect.New(v.Elem().Type()).Elem()
			e.Set(v.Elem())
			set(e)
			v.Set(e)
		}
	case reflect.Slice:
		i := r.IntN(v.Len() + 1)
		c.path = append(c.path, i)
		if i == v.Len() { // append
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e)
			return func(v reflect.Value) { v.Set(reflect.Append(v, clone(e))) }
		}
		set := c.member(r, v.Index(i))
		if set == nil {
			return nil
		}
		return func(v reflect.Value) { set(v.Index(i)) }
	case reflect.Map:
		if v.IsNil() {
			return whole()
		}
		key := reflect.ValueOf(randomKey(r)).Convert(v.Type().Key())
		e := reflect.New(v.Type().Elem()).Elem()
		if present := v.MapKeys(); len(present) > 0 && r.IntN(3) > 0 {
			slices.SortFunc(present, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			key = pick(r, present...)
			c.path = append(c.path, key.String())
			if r.IntN(4) == 0 {
				return func(v reflect.Value) { v.SetMapIndex(key, reflect.Value{}) }
			}
			set := c.member(r, v.MapIndex(key))
			if set == nil {
				return nil
			}
			return func(v reflect.Value) {
				e := clone(v.MapIndex(key))
				set(e)
				v.SetMapIndex(key, e)
			}
		}
		c.path = append(c.path, key.String())
		fill(r, e)
		return func(v reflect.Value) { v.SetMapIndex(key, clone(e)) }
	}
	return whole()
}

// memberName is the name of a field as a member of JSON.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// isScalar reports whether encoding/json does not look into the type.
func isScalar(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// clone returns an addressable copy of v that shares no memory with it which a change could change.
func clone(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to.Set(clone(v.Elem()).Addr())
		}
	case reflect.Interface:
		if !v.IsNil() {
			to.Set(clone(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				to.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			to.Set(reflect.MakeMap(v.Type()))
			for _, key := range v.MapKeys() {
				to.SetMapIndex(key, clone(v.MapIndex(key)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				to.Field(i).Set(clone(v.Field(i)))
			}
		}
	}
	return to
}

// textOf returns the JSON text of a value, nil if it has none.
func textOf(v reflect.Value) []byte {
	text, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return nil
	}
	return text
}

// fieldOf returns a field; the result is invalid if the field is in an embedded struct that is nil.
func fieldOf(v reflect.Value, index []int) reflect.Value {
	f, err := v.FieldByIndexErr(index)
	if err != nil {
		return reflect.Value{}
	}
	return f
}

func (c *change) String() string { return fmt.Sprintf("%s %v, path %v", c.name, c.typ, c.path) }
