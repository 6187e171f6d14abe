package oldprogram

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// must panics if a value of this package cannot be encoded or decoded, which is a mistake of this package.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// field is a field of a struct and the property that it is.
type field struct {
	name     string // of the property
	index    []int
	typ      reflect.Type
	json     bool   // table:",json"
	omits    bool   // omitempty or omitzero, or a pointer
	declares string // the type that the tag declares
}

func (f field) of(v reflect.Value) reflect.Value { return v.FieldByIndex(f.index) }

// fieldsOf returns the fields that are properties, without keys and Timestamp.
func fieldsOf(t reflect.Type) (fields []field) {
	for _, f := range reflect.VisibleFields(t) {
		tag, inTable := f.Tag.Lookup("table")
		jsonTag := strings.Split(f.Tag.Get("json"), ",")
		options := strings.Split(tag, ",")
		name := options[0]
		if name == "" {
			name = jsonTag[0]
			if inTable {
				options = append(options, jsonTag[1:]...)
			}
		}
		if !inTable {
			options = jsonTag
		}
		if f.Anonymous && name == "" && embeds(f.Type) || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if name == "PartitionKey" || name == "RowKey" || name == "Timestamp" {
			continue
		}
		g := field{name: name, index: f.Index, typ: f.Type, omits: f.Type.Kind() == reflect.Pointer}
		for _, o := range options[1:] {
			g.json = g.json || inTable && o == "json"
			g.omits = g.omits || o == "omitempty" || o == "omitzero"
			if o == "string" || o == "int32" {
				g.declares = o
			}
		}
		fields = append(fields, g)
	}
	return fields
}

// embeds reports whether an embedded field of this type has its fields promoted, instead of being a property.
func embeds(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.Struct && !p.Implements(reflect.TypeFor[json.Marshaler]()) && !p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func fieldNamed(t reflect.Type, name string) field {
	for _, f := range fieldsOf(t) {
		if f.name == name {
			return f
		}
	}
	return field{}
}
