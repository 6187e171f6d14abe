package edm

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// An encoder writes one row. It is on the stack of Append.
type encoder struct {
	dst     []byte
	sizer   sizer
	notes   *notes            // of the row that the value was read from, nil for none
	next    int               // index in notes.types of the one that is expected next
	kept    []unknownProperty // notes.kept, taken apart when it is first needed
	named   bool              // properties are written that were absent and are zero
	scratch []byte
	short   [maxShort]byte // for the text of a number, a time or a GUID
	split   *SplitEntity   // the rows that values are split over; nil for a single row

	box       *sealed.Box  // of encrypted fields, nil to write them as they are
	at        sealed.Place // of the row
	unlimited bool         // values may be too large, because they are only compared
}

// maxShort is the length of the longest text of a number, a time or a GUID. Floats may be
// longer by their leading zeros.
const maxShort = 36

// Append appends *entity as one JSON object: the keys, its properties, e.Unknown and the
// stamp. entity is a non-nil pointer to the codec's type. Append returns a *types.PropertyError
// for everything that the service would refuse. The error matches ErrTooLarge at a size
// limit: 252 properties, 32,768 UTF-16 units of a string, 64 KiB of a binary value, 1 MiB
// of the entity. Keys are only checked to be UTF-8. On error Append returns dst unchanged. A
// nil dst is replaced by a buffer of the usual size of a row.
func (c *Codec) Append(dst []byte, entity any, e Envelope) ([]byte, error) {
	if dst == nil {
		dst = c.rowSize.buffer()
	}
	out, _, err := c.appendSized(dst, entity, e)
	if err == nil {
		c.rowSize.learn(len(out) - len(dst))
	}
	return out, err
}

// usualSize is the size of the largest row written recently. It is safe for concurrent use.
type usualSize struct{ bytes atomic.Int64 }

// buffer returns an empty buffer for one row of the usual size.
func (u *usualSize) buffer() []byte { return make([]byte, 0, u.bytes.Load()) }

// learn records the size of a row. A row that is far larger than the following ones is
// forgotten soon, so that not all buffers become as large.
func (u *usualSize) learn(n int) {
	switch largest := u.bytes.Load(); {
	case int64(n) > largest:
		u.bytes.Store(int64(n))
	case int64(n) < largest/2:
		u.bytes.Store(largest / 2)
	}
}

// RowSize returns the size of the largest row that was appended recently, to size buffers.
func (c *Codec) RowSize() int64 { return c.rowSize.bytes.Load() }

// appendSized is Append that also returns the size of the row.
func (c *Codec) appendSized(dst []byte, entity any, e Envelope) ([]byte, entitySize, error) {
	w := encoder{dst: dst}
	if err := w.row(c, reflect.ValueOf(entity).Elem(), &e); err != nil {
		return dst, w.sizer.size, err
	}
	return w.dst, w.sizer.size, nil
}

func (w *encoder) row(c *Codec, v reflect.Value, e *Envelope) error {
	w.dst = append(w.dst, '{')
	if err := w.keys(e.PartitionKey, e.RowKey); err != nil {
		return err
	}
	w.sizer.size.Bytes += entityOverhead
	if e.Unknown != nil {
		w.notes, w.named = e.Unknown.notes, e.Named
	}
	p := c.plan
	if c.box != nil && p.encrypted != "" {
		// Copies: otherwise all that the caller passes would be allocated, also without encrypted fields.
		w.box, w.at = c.box, sealed.Place{Partition: strings.Clone(e.PartitionKey), Row: strings.Clone(e.RowKey)}
	}
	for i := range p.fields {
		f := &p.fields[i]
		if e.Only != nil && !slices.Contains(e.Only, f.name) {
			continue
		}
		if err := w.structField(p, f, v); err != nil {
			return err
		}
	}
	if err := w.mapProperties(p, v, e); err != nil {
		return err
	}
	if e.Unknown != nil && len(e.Unknown.raw) > 0 {
		if err := w.unknown(c, v, e.Unknown); err != nil {
			return err
		}
	}
	if e.Stamp != "" {
		write(w, `,"`+stampName+`":`)
		if err := w.text(&stampField, e.Stamp); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, '}')
	if err := w.sizer.check(); err != nil {
		return err
	}
	return nil
}

// structField writes the property of the field f of entity, unless it is omitted.
func (w *encoder) structField(p *plan, f *field, entity reflect.Value) error {
	if f.sealed != nil && w.box != nil {
		return w.sealedField(p, f, entity)
	}
	return w.openField(p, f, entity)
}

// openField is [encoder.structField] of a field that is not encrypted.
func (w *encoder) openField(p *plan, f *field, entity reflect.Value) error {
	v, ok := f.get(entity)
	if w.notes != nil {
		if ok && w.isAbsent(f, v) {
			return nil
		}
		if k := w.keptOf(f.name); k != nil {
			if done, err := w.keep(p, f, k, v, ok, entity); done || err != nil {
				return err
			}
			f = f.zonedAs(k)
		}
	}
	if !ok || f.optional && f.omitted(v) {
		return nil
	}
	if w.split != nil {
		w.begin(f.name)
	}
	return w.property(p, f, v, entity)
}

// property writes the field f of entity, whose value is v.
func (w *encoder) property(p *plan, f *field, v, entity reflect.Value) error {
	if f.annotationAt > 0 && f.shape == shapeString {
		return w.annotated(f, v, &p.system[f.annotationAt-1].field, entity)
	}
	if stored := w.typeOf(f.name); stored != 0 && stored != absent {
		f = f.as(stored, v)
	}
	return w.field(f, v)
}

// keys writes the members of the keys.
func (w *encoder) keys(pk, rk string) error {
	write(w, `"PartitionKey":`)
	if err := w.key(partitionKeyName, pk); err != nil {
		return err
	}
	write(w, `,"RowKey":`)
	return w.key(rowKeyName, rk)
}

func (w *encoder) key(name, text string) error {
	units, ok := w.quote(text)
	if !ok {
		return &types.PropertyError{Property: name, Want: "UTF-8", Got: "other bytes"}
	}
	w.sizer.size.Bytes += 2 * units
	return nil
}

// omitted reports whether the field is omitted because of its value.
func (f *field) omitted(v reflect.Value) bool {
	switch f.shape {
	case shapeBytes:
		if v.IsNil() {
			return true
		}
	case shapeJSON:
		switch v.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
			if v.IsNil() {
				return true
			}
		}
	}
	if f.ptr || !f.omitEmpty && !f.omitZero {
		return false
	}
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Slice, reflect.Map:
			return v.Len() == 0
		}
	}
	if f.isZeroer {
		return v.Addr().Interface().(zeroer).IsZero()
	}
	return v.IsZero() && !hasNegativeZero(v)
}

// hasNegativeZero reports whether v, for which IsZero is true, contains a -0.0, which
// reflect does not distinguish from the zero value.
func hasNegativeZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Signbit(v.Float())
	case reflect.Struct:
		for i := range v.NumField() {
			if hasNegativeZero(v.Field(i)) {
				return true
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if hasNegativeZero(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

var stampField = fieldNamed(stampName)

type zeroer interface{ IsZero() bool }

var zeroerType = reflect.TypeFor[zeroer]()

// annotated writes a text whose type is the value of another field of the struct, as in
//
//	Count     string
//	CountType string `json:"Count@odata.type"`
func (w *encoder) annotated(f *field, v reflect.Value, typeField *field, entity reflect.Value) error {
	annotation := ""
	if tv, ok := typeField.get(entity); ok {
		annotation = tv.String()
	}
	if annotation == "" || annotation == String.String() {
		return w.field(f, v)
	}
	return w.annotatedText(f, v.String(), annotation)
}

// annotatedText writes a text as a value of the type that annotation names.
func (w *encoder) annotatedText(f *field, text, annotation string) error {
	edm := typeNamed([]byte(annotation))
	bad := &types.PropertyError{Property: f.name, Want: edm.String(), Got: "other text"}
	switch edm {
	case Int64, DateTime, Guid, Binary:
		if v := parsed(edm, []byte(text), false); v != nil {
			return w.mapValue(f.name, v)
		}
	case Double:
		if text == "NaN" || text == "Infinity" || text == "-Infinity" {
			x, _ := new(token).double([]byte(text))
			return w.mapValue(f.name, x)
		}
	default:
		bad.Want, bad.Got = "the name of a type that is text in JSON", edm.String()
	}
	return bad
}
