package edm

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// field writes one property. v is addressable.
func (w *encoder) field(f *field, v reflect.Value) error {
	switch f.shape {
	case shapeString:
		if f.edm != String {
			return w.annotatedText(f, v.String(), f.edm.String())
		}
		w.dst = append(w.dst, f.prefix...)
		return w.text(f, v.String())
	case shapeBool:
		w.dst = append(w.dst, f.prefix...)
		w.scalar(f, strconv.AppendBool(w.short[:0], v.Bool()))
	case shapeInt:
		return w.number(f, v.Int())
	case shapeUint:
		u := v.Uint()
		if u > math.MaxInt64 {
			return &PropertyError{Property: f.name, Want: Int64.String(), Got: "a number over 1<<63-1"}
		}
		return w.number(f, int64(u))
	case shapeFloat:
		if f.edm == Int32 {
			return w.number(f, int64(v.Float()))
		}
		return w.double(f, v.Float())
	case shapeTime, shapeEDMTime:
		return w.dateTime(f, f.timeOf(v))
	case shapeBytes:
		return w.binary(f, v.Bytes())
	case shapeGUID:
		w.dst = append(w.dst, f.prefix...)
		w.guid(f, (*[16]byte)(v.Bytes()))
	case shapeEDMGUID:
		var g [16]byte
		if !parseGUID(&g, []byte(v.String())) {
			return &PropertyError{Property: f.name, Want: Guid.String(), Got: "other text"}
		}
		w.dst = append(w.dst, f.prefix...)
		w.guid(f, &g)
	case shapeText:
		return w.marshaled(f, v)
	case shapeScalar:
		return w.jsonScalar(f, v)
	case shapeJSON:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			return &PropertyError{Property: f.name, Want: "JSON of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
		}
		w.dst = append(w.dst, f.prefix...)
		return w.text(f, string(text))
	}
	return nil
}

// text writes a string value after its prefix.
func (w *encoder) text(f *field, s string) error {
	units, ok := w.quote(s)
	if !ok {
		return &PropertyError{Property: f.name, Want: "UTF-8", Got: "other bytes"}
	}
	if units > maxTextUnits {
		if w.split != nil {
			return w.splitText(f, s)
		}
		return tooLarge(f.name, wantText, units)
	}
	w.sizer.add(f, 4+2*units)
	return nil
}

// scalar writes a number or a boolean, in quotes if the tag has the option string.
func (w *encoder) scalar(f *field, text []byte) {
	if f.edm == String {
		w.quoted(text)
		w.sizer.add(f, 4+2*len(text))
		return
	}
	w.dst = append(w.dst, text...)
	w.sizer.add(f, fixedSize(f.edm))
}

// quoted writes a text that needs no escapes in quotes. It appends to w.dst itself, as the
// other methods do: while garbage is collected, each store of a slice in another place than
// before has a cost.
func (w *encoder) quoted(text []byte) {
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, text...)
	w.dst = append(w.dst, '"')
}

func (w *encoder) integer(f *field, i int64) {
	text := strconv.AppendInt(w.short[:0], i, 10)
	if f.edm == Int64 {
		w.quoted(text)
		w.sizer.add(f, 8)
		return
	}
	w.scalar(f, text)
}

// double writes a float with a decimal point or an exponent, so that every client reads a
// double. It is annotated if a client that decodes and encodes the JSON could otherwise
// make it a whole number.
func (w *encoder) double(f *field, v float64) error {
	special := ""
	switch {
	case math.IsNaN(v):
		special = `"NaN"`
	case math.IsInf(v, 1):
		special = `"Infinity"`
	case math.IsInf(v, -1):
		special = `"-Infinity"`
	}
	if f.edm == String {
		if special != "" {
			return &PropertyError{Property: f.name, Want: "a finite number", Got: special[1 : len(special)-1]}
		}
		w.dst = append(w.dst, f.prefix...)
		w.scalar(f, appendFloat(w.short[:0], v, f.bits))
		return nil
	}
	w.sizer.add(f, 8)
	if special != "" {
		w.dst = append(w.dst, f.altPrefix...)
		w.dst = append(w.dst, special...)
		return nil
	}
	text, prefix := appendFloat(w.short[:0], v, f.bits), f.prefix
	whole := v == math.Trunc(v)
	if whole || math.Abs(v) < 1e-6 {
		prefix = f.altPrefix
	}
	w.dst = append(w.dst, prefix...)
	w.dst = append(w.dst, text...)
	if whole && !hasPoint(text) {
		w.dst = append(w.dst, ".0"...)
	}
	return nil
}

// appendFloat writes the shortest text that parses as v, as encoding/json does.
func appendFloat(dst []byte, v float64, bits int) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, bits)
}

func hasPoint(number []byte) bool {
	for _, c := range number {
		if c == '.' || c == 'e' {
			return true
		}
	}
	return false
}

// dateTime writes a time. An Edm.DateTime cannot represent the zero time, which is omitted.
func (w *encoder) dateTime(f *field, t time.Time) error {
	switch {
	case f.edm == String:
		return w.timeText(f, t)
	case t.IsZero():
		return nil
	}
	text, ok := appendDateTime(w.short[:0], t)
	if !ok {
		return &PropertyError{Property: f.name, Want: "a year from 1601 to 9999", Got: "a year outside it"}
	}
	w.dst = append(w.dst, f.prefix...)
	w.quoted(text)
	w.sizer.add(f, 8)
	return nil
}

func (w *encoder) binary(f *field, b []byte) error {
	if n := base64.StdEncoding.EncodedLen(len(b)); f.edm == String && n > maxTextUnits {
		return tooLarge(f.name, wantText, n)
	}
	if len(b) > maxBinary {
		if w.split != nil {
			return w.splitBinary(f, b)
		}
		return tooLarge(f.name, wantBinary, len(b))
	}
	w.dst = append(append(w.dst, f.prefix...), '"')
	w.dst = base64.StdEncoding.AppendEncode(w.dst, b)
	w.dst = append(w.dst, '"')
	if f.edm == String {
		w.sizer.add(f, 4+2*base64.StdEncoding.EncodedLen(len(b)))
		return nil
	}
	w.sizer.add(f, 4+len(b))
	return nil
}

func (w *encoder) guid(f *field, g *[16]byte) {
	w.quoted(appendGUID(w.short[:0], g))
	if f.edm == String {
		w.sizer.add(f, 4+2*36)
		return
	}
	w.sizer.add(f, 16)
}

func (w *encoder) marshaled(f *field, v reflect.Value) error {
	var text []byte
	var err error
	switch m := v.Addr().Interface().(type) {
	case encoding.TextAppender:
		text, err = m.AppendText(w.scratch[:0])
		w.scratch = text
	case encoding.TextMarshaler:
		text, err = m.MarshalText()
	}
	if err != nil {
		return &PropertyError{Property: f.name, Want: "text of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
	}
	w.dst = append(w.dst, f.prefix...)
	return w.text(f, string(text))
}

// quote writes s as a JSON string and returns its length in UTF-16 units. It returns false
// if s is not UTF-8.
func (w *encoder) quote(s string) (units int, ok bool) {
	w.dst = append(w.dst, '"')
	units = len(s)
	from := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && plain8(s[i:i+8]) {
			i += 8
			continue
		}
		c := s[i]
		if plainByte[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return 0, false
			}
			i += n
			// Two or three bytes are one unit, four are two.
			units -= n - 1 - n/4
			continue
		}
		w.dst = append(w.dst, s[from:i]...)
		if c == '"' || c == '\\' {
			w.dst = append(w.dst, '\\', c)
		} else {
			w.dst = append(w.dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	w.dst = append(w.dst, s[from:]...)
	w.dst = append(w.dst, '"')
	return units, true
}

// plain8 reports whether none of eight bytes needs an escape and all are ASCII. It may
// return false for plain bytes; the caller then checks them one by one.
func plain8(s string) bool {
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return stops(x) == 0
}

// plainByte has the ASCII bytes that need no escape in a JSON string.
var plainByte = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
