package edm

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// field writes one property. v is addressable.
func (w *encoder) field(f *field, v reflect.Value) error {
	switch f.shape {
	case shapeString:
		if f.edm != String {
			return w.annotatedText(f, v.String(), f.edm.String())
		}
		write(w, f.prefix)
		return w.text(f, v.String())
	case shapeBool:
		write(w, f.prefix)
		w.scalar(f, strconv.AppendBool(w.short[:0], v.Bool()))
	case shapeInt:
		return w.number(f, v.Int())
	case shapeUint:
		u := v.Uint()
		if u > math.MaxInt64 {
			return &types.PropertyError{Property: f.name, Want: Int64.String(), Got: "a number over 1<<63-1"}
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
		write(w, f.prefix)
		w.guid(f, (*[16]byte)(v.Bytes()))
	case shapeEDMGUID:
		var g [16]byte
		if !parseGUID(&g, []byte(v.String())) {
			return &types.PropertyError{Property: f.name, Want: Guid.String(), Got: "other text"}
		}
		write(w, f.prefix)
		w.guid(f, &g)
	case shapeText:
		return w.marshaled(f, v)
	case shapeScalar:
		return w.jsonScalar(f, v)
	case shapeLiteral:
		return w.literal(f, v)
	case shapeJSON:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			return &types.PropertyError{Property: f.name, Want: "JSON of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
		}
		write(w, f.prefix)
		return w.text(f, string(text))
	}
	return nil
}

// text writes a string value after its prefix.
func (w *encoder) text(f *field, s string) error {
	units, ok := w.quote(s)
	if !ok {
		return &types.PropertyError{Property: f.name, Want: "UTF-8", Got: "other bytes"}
	}
	if units > maxTextUnits && !w.unlimited {
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
	write(w, text)
	w.sizer.add(f, fixedSize(f.edm))
}

// write appends text to w.dst. Unlike w.dst = append(w.dst, text...) it does not store a
// pointer unless w.dst moves, which has a cost while garbage is collected.
func write[S string | []byte](w *encoder, text S) {
	n := len(w.dst)
	if len(text) > cap(w.dst)-n {
		w.grow(len(text))
	}
	w.dst = w.dst[:n+len(text)]
	copy(w.dst[n:], text)
}

func (w *encoder) grow(n int) { w.dst = slices.Grow(w.dst, n) }

// quoted writes a text that needs no escapes in quotes.
func (w *encoder) quoted(text []byte) {
	w.dst = append(w.dst, '"')
	write(w, text)
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
			return &types.PropertyError{Property: f.name, Want: "a finite number", Got: special[1 : len(special)-1]}
		}
		write(w, f.prefix)
		w.scalar(f, appendFloat(w.short[:0], v, f.bits))
		return nil
	}
	w.sizer.add(f, 8)
	if special != "" {
		write(w, f.altPrefix)
		write(w, special)
		return nil
	}
	text, prefix := appendFloat(w.short[:0], v, f.bits), f.prefix
	whole := v == math.Trunc(v)
	if whole || math.Abs(v) < 1e-6 {
		prefix = f.altPrefix
	}
	write(w, prefix)
	write(w, text)
	if whole && !bytes.ContainsAny(text, ".e") {
		write(w, ".0")
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
		return &types.PropertyError{Property: f.name, Want: "a year from 1601 to 9999", Got: "a year outside it"}
	}
	write(w, f.prefix)
	w.quoted(text)
	w.sizer.add(f, 8)
	return nil
}

func (w *encoder) binary(f *field, b []byte) error {
	if n := base64.StdEncoding.EncodedLen(len(b)); f.edm == String && n > maxTextUnits && !w.unlimited {
		return tooLarge(f.name, wantText, n)
	}
	if len(b) > maxBinary && !w.unlimited {
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
		return &types.PropertyError{Property: f.name, Want: "text of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
	}
	write(w, f.prefix)
	return w.text(f, string(text))
}

// quote writes s as a JSON string and returns its length in UTF-16 units. It returns false
// if s is not UTF-8.
func (w *encoder) quote(s string) (units int, ok bool) {
	w.dst = append(w.dst, '"')
	units = len(s)
	from := 0
	for i := plainPrefix(s); i < len(s); i += plainPrefix(s[i:]) {
		c := s[i]
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
		write(w, s[from:i])
		if c == '"' || c == '\\' {
			w.dst = append(w.dst, '\\', c)
		} else {
			w.dst = append(w.dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	write(w, s[from:])
	w.dst = append(w.dst, '"')
	return units, true
}

// plainPrefix returns how many bytes of s, from its start, are ASCII characters that need no
// escape.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := stops(eightBytes(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i > 0 { // of the last eight bytes the first ones are known to be plain
		return len(s) - 8 + bits.TrailingZeros64(stops(eightBytes(s[len(s)-8:])))>>3
	}
	for i < len(s) && plainByte[s[i]] {
		i++
	}
	return i
}

func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// plainByte has the ASCII bytes that need no escape in a JSON string.
var plainByte = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// A type with JSON methods is stored as the string, number or boolean that MarshalJSON
// returns, as aztables stores it.

// scalarType returns the property type of the zero value of a type with JSON methods, and
// Edm.String if that is null, an error or a panic. It returns 0 for nested JSON.
func scalarType(t reflect.Type) (edm Type) {
	defer func() {
		if recover() != nil { // the method need not accept a zero value
			edm = String
		}
	}()
	text, err := json.Marshal(reflect.New(t).Interface())
	if err != nil {
		return String
	}
	switch text[0] {
	case '{', '[':
		return 0
	case 't', 'f':
		return Boolean
	case '"', 'n':
		return String
	}
	return Double
}

// jsonScalar writes a value as MarshalJSON returns it.
func (w *encoder) jsonScalar(f *field, v reflect.Value) error {
	text, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return &types.PropertyError{Property: f.name, Want: "JSON of " + f.typ.String(), Got: "an error of its marshaler", Err: err}
	}
	var t token
	s := scanner{data: text}
	s.value(&t, 1)
	raw := text[t.start:t.end]
	switch t.kind {
	case tokNull:
		return nil
	case tokTrue, tokFalse:
		return w.mapValue(f.name, t.kind == tokTrue)
	case tokNumber:
		x, _ := parseFloat(raw, 64)
		if t.wireType(raw) == Int32 && (!f.kept || f.edm == Int32) {
			return w.mapValue(f.name, int32(x))
		}
		return w.mapValue(f.name, x)
	case tokString:
		raw, _ = unescape(nil, raw)
		if f.kept && f.edm != String && f.edm > Int32 {
			return w.annotatedText(f, string(raw), f.edm.String())
		}
		return w.mapValue(f.name, string(raw))
	}
	return &types.PropertyError{Property: f.name, Want: "a string, a number or a boolean as JSON of " + f.typ.String(), Got: "nested JSON"}
}
