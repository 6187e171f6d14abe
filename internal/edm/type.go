package edm

import "github.com/azpatterns/azpatterns/patterns/types"

// Type is a property type of the Table service.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations#property-types-in-a-json-feed
type Type uint8

// The types of properties. The zero Type is none: no annotation in a row, no single type
// for a field.
const (
	String Type = iota + 1
	Boolean
	Int32
	Int64
	Double
	DateTime
	Guid
	Binary
	edmUnknown // annotated with another type
	absent     // of no property, only in a [storedType]
)

var edmNames = [...]string{"", "Edm.String", "Edm.Boolean", "Edm.Int32", "Edm.Int64", "Edm.Double",
	"Edm.DateTime", "Edm.Guid", "Edm.Binary", "an unknown type"}

// String returns the name as in an annotation, such as "Edm.Int64".
func (e Type) String() string {
	if int(e) < len(edmNames) {
		return edmNames[e]
	}
	return edmNames[edmUnknown]
}

// annotationSuffix is appended to a property's name to form that of its type annotation.
const annotationSuffix = "@odata.type"

// typeNamed returns the type with this annotation text, edmUnknown if there is none.
func typeNamed(text []byte) Type {
	for i := String; i < edmUnknown; i++ {
		if string(text) == edmNames[i] {
			return i
		}
	}
	return edmUnknown
}

// wireType returns the property type of the value, or edmUnknown if the annotation does
// not match the JSON value.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
func (t *token) wireType(raw []byte) Type {
	ok := true
	switch t.edm {
	case 0:
		switch t.kind {
		case tokString:
			return String
		case tokTrue, tokFalse:
			return Boolean
		case tokNumber:
			if t.integer {
				if i, ok := parseInt(raw); ok && fitsInt(i, 32) {
					return Int32
				}
			}
			return Double
		}
		ok = false
	case Boolean:
		ok = t.kind == tokTrue || t.kind == tokFalse
	case Int32:
		ok = t.kind == tokNumber && t.integer
	case Int64:
		ok = t.kind == tokString || t.kind == tokNumber && t.integer
	case Double:
		ok = t.kind == tokString || t.kind == tokNumber
	default:
		ok = t.kind == tokString
	}
	if !ok {
		return edmUnknown
	}
	return t.edm
}

// describe names the type of a value, for errors.
func (t *token) describe(raw []byte) string {
	edm := t.wireType(raw)
	switch {
	case t.edm == edmUnknown:
		return edmUnknown.String()
	case edm != edmUnknown:
		return edm.String()
	case t.kind == tokNested:
		return "an object or array"
	}
	return t.edm.String() + " with another kind of JSON value"
}

// mismatch returns the error for a value that its field cannot store.
func (d *decoder) mismatch(f *field, t *token) error {
	raw := d.data[t.start:t.end]
	e := &types.PropertyError{Property: f.name, Want: f.edm.String(), Got: t.describe(raw)}
	edm := t.wireType(raw)
	switch {
	case t.kind == tokString && t.escaped && !pairedSurrogates(raw):
		e.Got += " with half a surrogate pair"
	case edm == edmUnknown:
	case (f.shape == shapeInt || f.shape == shapeUint) && (edm == Int32 || edm == Int64):
		e.Want += " (" + f.typ.String() + ")"
		e.Got += " out of range"
	case edm == f.edm || edm == String && f.takesText():
		e.Want += " (" + f.typ.String() + ")"
		e.Got += " that does not fit"
	case !f.declared && f.canStore(edm):
		for option, t := range typeOptions {
			if t == edm {
				e.Want += `, or the tag table:",` + option + `"`
			}
		}
	}
	return e
}

// takesText reports whether the field can be read from an Edm.String.
func (f *field) takesText() bool {
	switch f.shape {
	case shapeBool, shapeFloat:
		return f.quoted
	case shapeInt, shapeUint:
		return f.acceptsText
	}
	return true
}

func pairedSurrogates(raw []byte) bool {
	_, ok := unescape(nil, raw)
	return ok
}

type metadataLevel uint8

const (
	levelUnknown metadataLevel = iota
	levelTyped
	levelUntyped
)

// untyped reports whether the reply has no metadata (odata=nometadata) and so no
// annotations: a string may then be of any type that needs one. It is called only for
// values that do not match their field otherwise.
func (d *decoder) untyped() bool {
	if d.level == levelUnknown {
		d.level = levelTyped
		if !hasMetadata(d.data) {
			d.level = levelUntyped
		}
	}
	return d.level == levelUntyped
}

// hasMetadata reports whether the outer object has a member odata.metadata, also if the
// text after it is malformed.
func hasMetadata(body []byte) bool {
	s := scanner{data: body}
	found := false
	s.list('{', '}', func() bool {
		var name, value token
		if !s.name(&name) {
			return false
		}
		found = string(body[name.start:name.end]) == "odata.metadata"
		return !found && s.value(&value, 1)
	})
	return found || s.err != nil
}
