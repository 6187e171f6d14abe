package keys

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Layout formats the exported fields of struct K, in the order of their declaration
// and separated by "_", as one key text, and parses it. With
//
//	type Review struct {
//		ID   int `key:"digits=6"`
//		Year int `key:"digits=4"`
//	}
//
// the key of {123, 2012} is "000123_2012".
//
// The tag of a field selects its format:
//
//	key:"digits=6"   an integer that is not negative: Digits with that width
//	key:"ticks"      a time.Time: Ticks, oldest first
//	key:"invticks"   a time.Time: InvertedTicks, newest first
//	key:"fold"       a string: strings.ToLower, then Escape
//	key:"uuid"       a [16]byte: UUID; a string: the text of a UUID, lower case
//	key:"-"          not part of the key
//
// Without a tag, the type selects it:
//
//	string           Escape
//	int, int8 … int64        Int64
//	uint, uint8 … uint64     Digits in 20 digits
//	float32, float64         Float64
//	bool             "0" for false, "1" for true
//	[16]byte         UUID
//
// Named types are formatted like their underlying type. A field of any other type,
// or a time.Time without a tag, is an error of NewLayout.
//
// No formatted field contains "_", so different values of K have different keys,
// except for differences that a format drops: fold drops case, ticks and invticks
// drop the time zone and fractions of 100 ns, and minus zero is zero. Parse returns
// the folded text, and times in UTC.
//
// Keys sort by the first field, then by the second, and so on, if every field but
// the last has a fixed width. Escaped text has no fixed width, and "_" sorts above
// digits and capital letters: "12_x" sorts before "1_x". Ranges are exact in any
// case.
//
// A Layout is immutable and safe for concurrent use. Every method of the zero Layout
// returns an *Error.
type Layout[K any] struct {
	prefix string
	fields []field
}

// LayoutOptions are the options of NewLayout. Nil means the zero value.
type LayoutOptions struct {
	// Prefix is the beginning of every key, such as "email_". It separates the keys
	// of several layouts in one partition. It should end in "_" and contain no other
	// "_", so that no prefix is the beginning of another one. It must be legal key
	// text. The default is no prefix.
	Prefix string
}

// NewLayout returns the layout that the fields and tags of K define. opts can be nil.
// It returns an *Error if K is not a struct or has no field for the key, and an
// *Error that names the field if a tag is unknown or a type cannot be part of a key.
func NewLayout[K any](opts *LayoutOptions) (*Layout[K], error) {
	l := &Layout[K]{prefix: cmp.Or(opts, &LayoutOptions{}).Prefix}
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

// Format returns the key of k. It returns an *Error that names the field if a value
// cannot be formatted, such as a number with too many digits, and an *Error if the
// key is longer than MaxUnits.
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

// Parse is the inverse of Format. It returns an *Error for text that Format does not
// produce; the error names the field if there is one.
func (l *Layout[K]) Parse(s string) (K, error) {
	var zero, k K
	if len(l.fields) == 0 {
		return zero, noLayout()
	}
	rest, ok := strings.CutPrefix(s, l.prefix)
	if !ok {
		return zero, &Error{Part: "Parse", Reason: Malformed, Offset: 0, Detail: "the text does not begin with the prefix of this layout"}
	}
	if len(s) > MaxUnits && unitsAbove([]byte(s), MaxUnits) {
		return zero, tooLong("Parse")
	}
	if n := strings.Count(rest, separator) + 1; n != len(l.fields) {
		return zero, &Error{Part: "Parse", Reason: Malformed, Offset: -1,
			Detail: fmt.Sprintf("%d parts, the layout has %d", n, len(l.fields))}
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

// Range returns the range that contains exactly the keys whose first fields equal
// those of k; fields is their number, and the other fields of k are ignored. For the
// layout above, Range({123, 0}, 1) is ["000123_", "000123`"). It contains neither
// "0001230_2012" nor "000124_2012", nor "000123" itself, which is a key of another
// layout. Any text may follow the shared fields, including more parts than this
// layout has.
//
// If fields is 0, the range contains every key that begins with the prefix. If fields
// is the number of all fields, it contains only the key that Format returns.
//
// Range returns an *Error if fields is negative or more than the layout has, if Format
// rejects the value of one of these fields, or if the range is longer than MaxUnits.
func (l *Layout[K]) Range(k K, fields int) (Range, error) {
	if fields < 0 || fields > len(l.fields) {
		return Range{}, &Error{Part: "Range", Reason: BadDefinition, Offset: -1,
			Detail: fmt.Sprintf("%d fields, the layout has %d", fields, len(l.fields))}
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

// append appends the prefix and the first n fields of k.
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
	return &Error{Part: "Layout", Reason: BadDefinition, Offset: -1, Detail: "the Layout was not created by NewLayout"}
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
