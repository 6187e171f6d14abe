package edm

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// shape is how a Go value is read and written.
type shape uint8

const (
	shapeNone    shape = iota
	shapeString        // any string kind
	shapeBool          //
	shapeInt           // signed kinds
	shapeUint          // unsigned kinds
	shapeFloat         //
	shapeTime          // time.Time
	shapeEDMTime       // aztables.EDMDateTime
	shapeBytes         // slices of bytes
	shapeGUID          // arrays of 16 bytes
	shapeEDMGUID       // aztables.EDMGUID
	shapeText          // encoding.TextMarshaler and TextUnmarshaler
	shapeJSON          // table:",json"
	shapeScalar        // json.Marshaler and Unmarshaler
	shapeLiteral       // json.Number; both kinds of methods, and a number or a boolean in JSON
	shapeMap           // map[string]any for unknown properties
)

// A field is one exported field of an entity type, mapped to a property.
type field struct {
	goName       string // path in the Go source, for errors
	typ          reflect.Type
	index        []int // as in reflect.Value.FieldByIndex
	first        int   // index[0]
	flat         bool  // index has one element
	ptr          bool  // typ is a pointer to the value
	shape        shape
	bits         int
	edm          Type   // with which the property is written
	native       Type   // of the Go type
	declared     bool   // the tag, or the Go type, requires the type edm
	kept         bool   // the row stores the property with the type edm
	nameSize     int    // what the property counts, apart from its value, against the size of an entity
	acceptsText  bool   // an integer that clients without annotations stored as text
	annotationAt int    // index in plan.system, plus one, of the field for its annotation
	optional     bool   // may be omitted
	zoned        bool   // a time that is stored as text with an offset
	isZeroer     bool   // has an IsZero method, and omitzero or omitempty asks for it
	sealed       *field // as the encrypted value is written, nil if it is not encrypted
	jsonField
	tagOptions
	prefix    string // precedes the value in a row: ,"Name@odata.type":"Edm.Int64","Name":
	altPrefix string // the same with an annotation if prefix has none, and vice versa
}

// A jsonField is what only fields that are stored as JSON do. No other type reaches it.
type jsonField struct {
	merge  func(f *field, p *plan, k *unknownProperty, types []storedType, before, now reflect.Value) (merged string, ok bool)
	normal func(f *field, text string) string
}

var (
	timeType            = reflect.TypeFor[time.Time]()
	etagType            = reflect.TypeFor[azcore.ETag]()
	edmTimeType         = reflect.TypeFor[aztables.EDMDateTime]()
	edmGUIDType         = reflect.TypeFor[aztables.EDMGUID]()
	edmInt64Type        = reflect.TypeFor[aztables.EDMInt64]()
	edmBinaryType       = reflect.TypeFor[aztables.EDMBinary]()
	edmEntityType       = reflect.TypeFor[aztables.EDMEntity]()
	rawJSONType         = reflect.TypeFor[json.RawMessage]()
	numberType          = reflect.TypeFor[json.Number]()
	mapType             = reflect.TypeFor[map[string]any]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonMarshalerType   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// A kind is how a Go type is read and written, and its property type.
type kind struct {
	shape shape
	edm   Type
}

var typeKinds = map[reflect.Type]kind{
	timeType:      {shapeTime, DateTime},
	edmTimeType:   {shapeEDMTime, DateTime},
	edmGUIDType:   {shapeEDMGUID, Guid},
	edmInt64Type:  {shapeInt, Int64},
	edmBinaryType: {shapeBytes, Binary},
	rawJSONType:   {shapeJSON, String},
	numberType:    {shapeLiteral, Double},
}

var basicKinds = map[reflect.Kind]kind{
	reflect.String: {shapeString, String}, reflect.Bool: {shapeBool, Boolean},
	reflect.Int8: {shapeInt, Int32}, reflect.Int16: {shapeInt, Int32}, reflect.Int32: {shapeInt, Int32},
	reflect.Int: {shapeInt, Int64}, reflect.Int64: {shapeInt, Int64},
	reflect.Uint8: {shapeUint, Int32}, reflect.Uint16: {shapeUint, Int32},
	reflect.Uint32: {shapeUint, Int64}, reflect.Uint: {shapeUint, Int64}, reflect.Uint64: {shapeUint, Int64}, reflect.Uintptr: {shapeUint, Int64},
	reflect.Float32: {shapeFloat, Double}, reflect.Float64: {shapeFloat, Double},
}

// classify returns the kind of the Go type t, which is not a pointer. If t cannot be stored, reason is why.
func classify(t reflect.Type) (k kind, reason string) {
	if k, ok := typeKinds[t]; ok {
		return k, ""
	}
	if t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8 {
		return kind{shapeGUID, Guid}, ""
	}
	p := reflect.PointerTo(t)
	writesText, readsText := p.Implements(textMarshalerType), p.Implements(textUnmarshalerType)
	writesJSON, readsJSON := p.Implements(jsonMarshalerType), p.Implements(jsonUnmarshalerType)
	switch {
	case writesText != readsText:
		return k, "needs both MarshalText and UnmarshalText"
	case writesText && writesJSON && readsJSON:
		if edm := scalarType(t); edm == Double || edm == Boolean {
			return kind{shapeLiteral, edm}, ""
		}
		return kind{shapeText, String}, ""
	case writesText:
		return kind{shapeText, String}, ""
	case writesJSON != readsJSON:
		return k, "needs both MarshalJSON and UnmarshalJSON"
	case writesJSON:
		edm := scalarType(t)
		if edm == 0 {
			return k, "its MarshalJSON returns nested JSON" + nestedJSON
		}
		return kind{shapeScalar, edm}, ""
	}
	if k, ok := basicKinds[t.Kind()]; ok {
		return k, ""
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Struct, reflect.Map, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return kind{shapeBytes, Binary}, ""
		}
		return k, "a " + t.Kind().String() + " is nested JSON" + nestedJSON
	case reflect.Interface:
		return k, `an interface has no one property type: use a concrete type, or add the tag table:",json"`
	}
	return k, "no property type for kind " + t.Kind().String()
}

// usualType returns the usual type of the [look] at the field.
func (f *field) usualType() Type {
	switch f.shape {
	case shapeText, shapeJSON, shapeScalar, shapeLiteral:
		return 0
	case shapeString:
		if f.edm != String {
			return 0
		}
	case shapeFloat:
		if f.bits != 64 || f.edm != Double {
			return 0
		}
	default:
		if f.edm == String || f.edm == Double {
			return 0
		}
	}
	if f.annotationAt > 0 {
		return 0
	}
	return f.edm
}

// omitsZero reports whether the zero value of the field is omitted.
func (f *field) omitsZero() (omits bool) {
	defer func() {
		if recover() != nil { // a method of the type need not accept a zero value
			omits = false
		}
	}()
	if f.ptr || (f.shape == shapeTime || f.shape == shapeEDMTime) && f.edm == DateTime {
		return true
	}
	return f.optional && f.omitted(reflect.New(f.typ).Elem())
}

// nestedJSON ends the reason why a field cannot be stored as encoding/json writes it.
const nestedJSON = `, which the service refuses: add the tag table:",json" to store it as text, or table:"-" to omit it`

// resolve determines how the field is read and written. If it cannot be, reason is why.
func (f *field) resolve() (reason string) {
	t := f.typ
	if f.unknown {
		if t != mapType && !(f.inline && t.Kind() == reflect.Map && t.ConvertibleTo(mapType)) {
			return "a field tagged bag is a map[string]any"
		}
		f.shape = shapeMap
		return ""
	}
	if f.blob {
		own, _ := classify(t)
		f.asJSON = own.shape != shapeString && own.shape != shapeBytes
	}
	if f.asJSON {
		f.shape, f.edm = shapeJSON, String
	} else {
		if t.Kind() == reflect.Pointer {
			t, f.ptr = t.Elem(), true
		}
		var k kind
		if k, reason = classify(t); reason != "" {
			return reason
		}
		f.shape, f.edm = k.shape, k.edm
		switch f.shape {
		case shapeInt, shapeUint, shapeFloat:
			f.bits = t.Bits()
		}
	}
	f.native = f.edm
	f.acceptsText = f.quoted || t == edmInt64Type
	f.declared = t == edmInt64Type
	if f.quoted {
		switch f.shape {
		case shapeBool, shapeFloat:
			f.edm = String
		case shapeInt, shapeUint:
			// The JSON text is that of Edm.Int64 already.
			if f.edm == Int32 {
				f.edm = String
			}
		case shapeLiteral:
			if f.quoted = t == numberType; f.quoted {
				f.edm = String
			}
		case shapeString:
			return "the json option string on a string is not supported"
		default:
			f.quoted = false
		}
	}
	if f.stored != 0 {
		if !f.canStore(f.stored) {
			return "a " + t.String() + " cannot be stored as " + f.stored.String()
		}
		f.edm, f.declared = f.stored, true
		f.quoted = f.quoted || f.edm == String
		f.acceptsText = f.quoted
	}
	f.optional = f.omitEmpty || f.omitZero || f.shape == shapeBytes || f.shape == shapeJSON
	f.isZeroer = (f.omitEmpty || f.omitZero) && reflect.PointerTo(f.typ).Implements(zeroerType)
	f.prefix, f.altPrefix = prefixes(f.name, f.edm)
	f.nameSize = nameSize(f.name)
	return ""
}

// prefixes returns what precedes a value in a row. prefix has an annotation if the type
// needs one; alt has one if prefix has none. A double uses either, depending on its value.
func prefixes(name string, edm Type) (prefix, alt string) {
	plain := `,"` + name + `":`
	annotated := `,"` + name + annotationSuffix + `":"` + edm.String() + `"` + plain
	switch edm {
	case Int64, DateTime, Guid, Binary:
		return annotated, plain
	}
	return plain, annotated
}

// fieldNamed returns a field for a property without one.
func fieldNamed(name string) field {
	return field{tagOptions: tagOptions{name: name}, nameSize: nameSize(name)}
}

// fitsInt reports whether v is in the range of a signed integer of so many bits.
func fitsInt(v int64, bits int) bool {
	return bits == 64 || v >= -1<<(bits-1) && v <= 1<<(bits-1)-1
}

// fitsUint reports whether v is in the range of an unsigned integer of so many bits.
func fitsUint(v int64, bits int) bool {
	return v >= 0 && (bits == 64 || v <= 1<<bits-1)
}

// get returns the field's value in the struct v. It returns false if the field, or an
// embedded pointer that leads to it, is nil.
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

// settable returns the field in the struct v and allocates what nil pointers on the way
// point to.
func (f *field) settable(v reflect.Value) reflect.Value {
	if f.flat {
		v = v.Field(f.first)
	} else {
		for i, at := range f.index {
			if i > 0 && v.Kind() == reflect.Pointer {
				v = allocate(v)
			}
			v = v.Field(at)
		}
	}
	if f.ptr {
		return allocate(v)
	}
	return v
}

func allocate(v reflect.Value) reflect.Value {
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}
