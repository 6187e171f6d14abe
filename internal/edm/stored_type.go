package edm

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// A storedType is a property that was read with another type than its field has. Other
// programs may depend on the type, so the property is written back with it.
type storedType struct {
	name string
	edm  Type
}

// typeOptions are the options of the table tag that declare the type of a property.
var typeOptions = map[string]Type{
	"string": String, "int32": Int32, "int64": Int64, "double": Double, "datetime": DateTime, "guid": Guid, "binary": Binary,
}

// canStore reports whether values of the field can be written as the type t.
func (f *field) canStore(t Type) bool {
	switch f.shape {
	case shapeString:
		return t == String || t == Int64 || t >= DateTime
	case shapeInt, shapeUint:
		return t == String || t == Int32 || t == Int64 || t == Double
	case shapeScalar:
		return false // MarshalJSON decides
	case shapeText, shapeJSON:
		return t == String
	}
	return t == f.native || t == String
}

// storedType returns the type of the value t of the field f if it is not the type with which the
// field is written. Otherwise it returns 0.
func (d *decoder) storedType(f *field, t *token) Type {
	if f.declared || f.annotationAt > 0 || f.shape == shapeScalar && t.edm == 0 {
		return 0
	}
	if t.edm == 0 {
		switch t.kind {
		case tokTrue, tokFalse:
			if f.edm == Boolean {
				return 0
			}
		case tokString:
			if d.untyped() {
				return 0
			}
		case tokNumber:
			if f.edm == Double && !t.integer {
				return 0
			}
		}
	}
	stored := t.wireType(d.data[t.start:t.end])
	if stored == f.edm || stored == edmUnknown {
		return 0
	}
	return stored
}

// storedTypes returns the properties of the row that are stored with another type than
// their fields have. Rows that have the same ones share the result.
func (d *decoder) storedTypes() []storedType {
	d.types = d.types[:0]
	fields := d.plan.fields
	toks := d.toks[firstFieldSlot:][:len(fields)]
	for i := range toks {
		t, f := &toks[i], &fields[i]
		if t.edm == f.edm || t.edm == 0 && t.kind == tokString && f.edm == String || t.kind == tokNone || t.kind == tokNull {
			continue // the usual case
		}
		if stored := d.storedType(f, t); stored != 0 {
			d.types = append(d.types, storedType{f.name, stored})
		}
	}
	if len(d.types) == 0 {
		return nil
	}
	if !slices.Equal(d.types, d.sharedTypes) {
		d.sharedTypes = slices.Clone(d.types)
	}
	return d.sharedTypes
}

// as returns the field as it is written if the row stores its property as the type t. If a
// float does not fit an integer type, its own type is used, because clients that do not
// annotate store a float as an integer whenever it is whole.
func (f *field) as(t Type, v reflect.Value) *field {
	if f.declared {
		return f
	}
	if f.shape == shapeFloat && t == Int32 {
		x := v.Float()
		if x != math.Trunc(x) || x < math.MinInt32 || x > math.MaxInt32 || x == 0 && math.Signbit(x) {
			return f
		}
	} else if f.shape == shapeString || f.shape != shapeScalar && !f.canStore(t) {
		return f // the item was read as another Go type
	}
	as := *f
	as.edm, as.kept = t, true
	as.prefix, as.altPrefix = prefixes(f.name, t)
	return &as
}

// OnlyTypes returns what a merge needs of u: the stored types of properties with fields.
func (u *Unknown) OnlyTypes() Unknown { return Unknown{types: u.types} }

// unfit returns the error for a value that the type of its property cannot represent.
func (f *field) unfit() error {
	e := &PropertyError{Property: f.name, Want: f.edm.String(), Got: "a number out of its range"}
	if f.kept {
		e.Want += ", as the row stores it (a tag such as `table:\",int64\"` changes the type)"
	}
	return e
}

// maxExact is the largest integer up to which a double represents every integer.
const maxExact = 1 << 53

// number writes an integer as the type of f.
func (w *encoder) number(f *field, i int64) error {
	switch {
	case f.edm == Int32 && !fitsInt(i, 32), f.edm == Double && (i > maxExact || i < -maxExact):
		return f.unfit()
	case f.edm == Double:
		return w.double(f, float64(i))
	}
	w.dst = append(w.dst, f.prefix...)
	w.integer(f, i)
	return nil
}

// wholeNumber reads an Edm.Double that is a whole number in the range that a double
// represents exactly.
func wholeNumber(raw []byte) (int64, bool) {
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > maxExact {
		return 0, false
	}
	return int64(x), true
}

// timeText writes a time as an Edm.String, in the form of encoding/json.
func (w *encoder) timeText(f *field, t time.Time) error {
	text, err := t.UTC().MarshalText()
	if err != nil {
		return &PropertyError{Property: f.name, Want: "a year from 0 to 9999", Got: "a year outside it"}
	}
	w.dst = append(w.dst, f.prefix...)
	return w.text(f, string(text))
}

// timeOf returns the time in a field of shapeTime or shapeEDMTime.
func (f *field) timeOf(v reflect.Value) time.Time {
	if f.shape == shapeEDMTime {
		return time.Time(*v.Addr().Interface().(*aztables.EDMDateTime))
	}
	return *v.Addr().Interface().(*time.Time)
}
