package query

import (
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

const (
	nameOfPartitionKey = "PartitionKey"
	nameOfRowKey       = "RowKey"
	nameOfTimestamp    = "Timestamp"
)

// A Property is the left side of a comparison. Make one with [Prop]; the three
// that every row has are [PartitionKey], [RowKey] and [Timestamp].
//
// The Go type of the value decides the type of the literal, see [Filter] and
// the package documentation. Mind untyped constants: Eq(30) is an int, and so
// an Int64 literal, which never matches an Int32 property; write
// Eq(int32(30)), or have the filter checked with [Filter.Check].
type Property struct {
	name string
	err  error
}

// The properties that every row has.
var (
	PartitionKey = Property{name: nameOfPartitionKey} // a String
	RowKey       = Property{name: nameOfRowKey}       // a String
	Timestamp    = Property{name: nameOfTimestamp}    // a DateTime, set by the service on each write
)

// Prop names a property. A name is a C# identifier of at most 255 UTF-16
// units, and case-sensitive; any other makes every filter with it broken. So
// do the words of the filter language (and, or, not, eq, ne, lt, le, gt, ge,
// true, false, null, NaN, INF), which a filter cannot address.
//
// See https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-names
func Prop(name string) Property {
	if reason := badName(name); reason != "" {
		return Property{name: name, err: &Error{Property: name, Reason: reason}}
	}
	return Property{name: name}
}

// Name is the name as it was given.
func (p Property) Name() string { return p.name }

// Eq is p eq v.
func (p Property) Eq(v any) Filter { return p.compare(opEq, v) }

// Ne is p ne v. A row without the property, or with a value of another type,
// does not match. No index helps a ne: the service reads everything that the
// rest of the filter leaves.
func (p Property) Ne(v any) Filter { return p.compare(opNe, v) }

// Lt is p lt v.
func (p Property) Lt(v any) Filter { return p.compare(opLt, v) }

// Le is p le v.
func (p Property) Le(v any) Filter { return p.compare(opLe, v) }

// Gt is p gt v.
func (p Property) Gt(v any) Filter { return p.compare(opGt, v) }

// Ge is p ge v.
func (p Property) Ge(v any) Filter { return p.compare(opGe, v) }

// Between is p ge from and p le to: both ends belong to it.
func (p Property) Between(from, to any) Filter { return And(p.Ge(from), p.Le(to)) }

// In is p eq v for any one of vs. In() of nothing matches no row. On RowKey,
// with the partition key given, it runs as one point read per value, see
// [Explain].
func (p Property) In(vs ...any) Filter {
	if p.err != nil {
		return Filter{err: p.err}
	}
	fs := make([]Filter, len(vs))
	for i, v := range vs {
		fs[i] = p.Eq(v)
	}
	return Or(fs...)
}

// Prefix is every text that starts with prefix, as a range: the service has no
// function for it. It costs two comparisons, or one where nothing sorts after
// the prefix.
func (p Property) Prefix(prefix string) Filter {
	if p.isKey() {
		return p.Within(keys.Prefix(prefix))
	}
	return p.Within(keys.Range{From: prefix, To: prefixEnd(prefix)})
}

// prefixEnd is the least text after every text that starts with prefix, or ""
// when there is none. Other than [keys.Prefix] it leaves no character out: a
// property may hold what a key may not.
func prefixEnd(prefix string) string {
	for head := prefix; head != ""; {
		r, size := utf8.DecodeLastRuneInString(head)
		head = head[:len(head)-size]
		switch r {
		case 0xFFFF: // the last UTF-16 unit
			continue
		case 0xD7FF: // surrogates follow, which write U+10000 and above
			r = 0x10000
		case unicode.MaxRune:
			r = 0xE000
		default:
			r++
		}
		return head + string(r)
	}
	return ""
}

// Within is every text in r. The range without bounds is every row for
// PartitionKey and RowKey; for another property it is every row that has it as
// a String.
func (p Property) Within(r keys.Range) Filter {
	switch {
	case r.To == "" && r.From == "" && p.isKey():
		return Filter{}
	case r.To == "":
		return p.text(opGe, r.From)
	case r.From == "":
		return p.text(opLt, r.To)
	}
	return And(p.text(opGe, r.From), p.text(opLt, r.To))
}

func (p Property) isKey() bool { return isKey(p.name) }

func isKey(name string) bool { return name == nameOfPartitionKey || name == nameOfRowKey }

func (p Property) compare(o op, v any) Filter {
	lit, reason := literalOf(v)
	return p.with(o, lit, reason)
}

// text spares the boxing of a string.
func (p Property) text(o op, s string) Filter {
	lit, reason := checkedString(s)
	return p.with(o, lit, reason)
}

func (p Property) with(o op, lit literal, reason string) Filter {
	if p.err != nil {
		return Filter{err: p.err}
	}
	if p.name == "" {
		return Filter{err: &Error{Reason: "a property without a name"}}
	}
	if reason != "" {
		return Filter{err: &Error{Property: p.name, Reason: reason}}
	}
	return Filter{root: compare(p.name, o, lit)}
}

// badName says why name cannot be a property's name, or "".
func badName(name string) string {
	if name == "" {
		return "the name is empty"
	}
	if reservedWord(name) {
		return "the name is a word of the filter language"
	}
	if !utf8.ValidString(name) {
		return "the name is not valid UTF-8"
	}
	units := 0
	for i, r := range name {
		if i == 0 && !nameStart(r) {
			return "the name does not start with a letter or an underscore"
		}
		if !namePart(r) {
			return "the name holds a character that no identifier has"
		}
		units++
		if r > 0xFFFF {
			units++
		}
	}
	if units > 255 {
		return "the name is longer than 255 characters"
	}
	return ""
}

func reservedWord(name string) bool {
	switch name {
	case "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge",
		"true", "false", "null", "NaN", "INF", "NaNf", "NaNF", "INFf", "INFF":
		return true
	}
	return false
}

func nameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.Nl)
}

func namePart(r rune) bool {
	if r < utf8.RuneSelf {
		return nameStart(r) || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Cf)
}
