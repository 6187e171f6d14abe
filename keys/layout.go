package keys

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Layout writes the exported fields of struct K, in the order of their
// declaration, as one key text with "_" between them, and reads it back:
//
//	type Review struct {
//		ID   int `key:"digits=6"`
//		Year int `key:"digits=4"`
//	}
//
// writes {123, 2012} as "000123_2012".
//
// A field's tag says how it is written:
//
//	key:"digits=6"   an integer, not negative: Digits in that width
//	key:"ticks"      a time.Time: Ticks, oldest first
//	key:"invticks"   a time.Time: InvertedTicks, newest first
//	key:"fold"       a string: lower-cased by strings.ToLower, then Escape
//	key:"uuid"       a [16]byte: UUID; a string: the text of a UUID, lower case
//	key:"-"          not part of the key
//
// and without a tag its type does:
//
//	string           Escape
//	int, int8 … int64        Int64
//	uint, uint8 … uint64     Digits in 20 digits
//	float32, float64         Float64
//	bool             "0" for false, "1" for true
//	[16]byte         UUID
//
// Named types of these kinds count as their kind. Nothing else can be a field,
// and a time.Time needs a tag.
//
// No part holds "_", so different structs never give one key, as far as K's
// fields go: fold does not see case, ticks see 100 ns and no time zone, and minus
// zero is zero. Parse gives back the folded text, the time in UTC.
//
// Keys sort by their fields, in order, where every field but the last has a fixed
// width. Text has none, and "_" sorts above digits and capitals: "12_x" comes
// before "1_x". Ranges are exact either way.
//
// A Layout is fixed once made and may be used by many goroutines. The zero Layout
// answers every call with an *Error.
type Layout[K any] struct {
	prefix string
	fields []field
}

// LayoutOptions are the options of NewLayout. Nil means the zero value.
type LayoutOptions struct {
	// Prefix stands in front of every key, such as "email_", and keeps the keys
	// of several layouts in one partition apart. Let it end in "_" and hold no
	// other: then no prefix is the beginning of another one. It has to be legal
	// key text. "" means none.
	Prefix string
}

// NewLayout reads the fields and tags of K. A K that is no struct, has no field
// for the key, or has one with an unknown tag or a type that cannot be written is
// an *Error that names the field.
func NewLayout[K any](opts *LayoutOptions) (*Layout[K], error) {
	l := &Layout[K]{}
	if opts != nil {
		l.prefix = opts.Prefix
	}
	if err := Check("LayoutOptions.Prefix", l.prefix); err != nil {
		return nil, err
	}
	fields, err := plan(reflect.TypeFor[K]())
	if err != nil {
		return nil, err
	}
	l.fields = fields
	return l, nil
}

// Format writes k. A field with a value that has no text, such as a number of too
// many digits, and a key of more than MaxUnits are an *Error; it names the field.
func (l *Layout[K]) Format(k K) (string, error) {
	var buf [128]byte
	dst, err := l.append(buf[:0], &k, len(l.fields))
	if err != nil {
		return "", err
	}
	if unitsAbove(dst, MaxUnits) {
		return "", tooLong("Format")
	}
	return string(dst), nil
}

// Parse reads back what Format wrote, and nothing else: Format of what it gives
// is s again. The *Error of anything else names the field.
func (l *Layout[K]) Parse(s string) (K, error) {
	var zero, k K
	if len(l.fields) == 0 {
		return zero, noLayout()
	}
	rest, ok := strings.CutPrefix(s, l.prefix)
	if !ok {
		return zero, &Error{Part: "Parse", Reason: Malformed, Offset: 0, Detail: "not the prefix of this layout"}
	}
	if len(s) > MaxUnits && unitsAbove([]byte(s), MaxUnits) {
		return zero, tooLong("Parse")
	}
	if n := strings.Count(rest, separator) + 1; n != len(l.fields) {
		return zero, &Error{Part: "Parse", Reason: Malformed, Offset: -1,
			Detail: fmt.Sprintf("%d parts where the layout has %d", n, len(l.fields))}
	}
	v := reflect.ValueOf(&k).Elem()
	for i := range l.fields {
		var part string
		part, rest, _ = strings.Cut(rest, separator)
		if err := l.fields[i].parse(v, part); err != nil {
			return zero, err
		}
	}
	return k, nil
}

// Range gives the range that holds exactly the keys that share the first fields
// fields with k; the others are not looked at. Range({123, 0}, 1) of the layout
// above is ["000123_", "000123`"), with neither "0001230_2012" nor "000124_2012",
// nor "000123" itself, which is a key of another layout. What follows the shared
// fields may be anything, also more parts than this layout has.
//
// With no fields it is every key that begins with the prefix. With all of them it
// is the one key that Format gives, and no other.
//
// A number of fields outside 0 to that of the layout is an *Error, as is what
// Format refuses.
func (l *Layout[K]) Range(k K, fields int) (Range, error) {
	if fields < 0 || fields > len(l.fields) {
		return Range{}, &Error{Part: "Range", Reason: BadDefinition, Offset: -1,
			Detail: fmt.Sprintf("%d fields of a layout of %d", fields, len(l.fields))}
	}
	var buf [128]byte
	dst, err := l.append(buf[:0], &k, fields)
	if err != nil {
		return Range{}, err
	}
	if fields > 0 && fields < len(l.fields) {
		dst = append(dst, separator...)
	}
	if unitsAbove(dst, MaxUnits) {
		return Range{}, tooLong("Range")
	}
	if fields == len(l.fields) {
		return only(string(dst)), nil
	}
	return Prefix(string(dst)), nil
}

const separator = "_"

// append adds the prefix and the first n fields of k.
func (l *Layout[K]) append(dst []byte, k *K, n int) ([]byte, error) {
	if len(l.fields) == 0 {
		return dst, noLayout()
	}
	dst = append(dst, l.prefix...)
	v := reflect.ValueOf(k).Elem()
	for i := range n {
		if i > 0 {
			dst = append(dst, separator...)
		}
		var err error
		if dst, err = l.fields[i].append(dst, v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func noLayout() *Error {
	return &Error{Part: "Layout", Reason: BadDefinition, Offset: -1, Detail: "not made by NewLayout"}
}

// unitsAbove reports whether text has more than limit UTF-16 units.
func unitsAbove(text []byte, limit int) bool {
	if len(text) <= limit {
		return false
	}
	units := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		units += unitsOf(r)
		text = text[size:]
	}
	return units > limit
}
