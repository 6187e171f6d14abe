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

// A Property is the left side of a comparison. [Prop] returns one; [PartitionKey],
// [RowKey] and [Timestamp] are the properties that every row has.
//
// The Go type of the value determines the type of the literal, as the package
// documentation describes. Note that untyped constants are ints: Eq(30) has an Int64
// literal, which never matches an Int32 property. Write Eq(int32(30)) for that, or check
// the filter with [Filter.Check]. A Property is an immutable value and safe for
// concurrent use.
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

// Prop returns the property with this name. A name is a C# identifier of at most 255
// UTF-16 units, and case-sensitive. If it is not, or if it is a word of the filter
// language (and, or, not, eq, ne, lt, le, gt, ge, true, false, null, NaN, INF), every
// filter with the property is invalid.
//
// See https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-names
func Prop(name string) Property {
	if reason := badName(name); reason != "" {
		return Property{name: name, err: &Error{Property: name, Reason: reason}}
	}
	return Property{name: name}
}

// Name returns the name of the property, as passed to [Prop].
func (p Property) Name() string { return p.name }

// Eq returns the filter p eq v.
func (p Property) Eq(v any) Filter { return p.compare(opEq, v) }

// Ne returns the filter p ne v. A row without the property, or with a value of another
// type, does not match. No index supports ne: the service reads all rows that the rest
// of the filter selects.
func (p Property) Ne(v any) Filter { return p.compare(opNe, v) }

// Lt returns the filter p lt v.
func (p Property) Lt(v any) Filter { return p.compare(opLt, v) }

// Le returns the filter p le v.
func (p Property) Le(v any) Filter { return p.compare(opLe, v) }

// Gt returns the filter p gt v.
func (p Property) Gt(v any) Filter { return p.compare(opGt, v) }

// Ge returns the filter p ge v.
func (p Property) Ge(v any) Filter { return p.compare(opGe, v) }

// Range returns the filter p ge from and p lt to: the end is exclusive, as in [Property.Within].
func (p Property) Range(from, to any) Filter { return And(p.Ge(from), p.Lt(to)) }

// In returns the filter p eq v for any v in vs. In() matches no row. A filter with
// PartitionKey.Eq and RowKey.In is rewritten to one point read per value, see
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

// Prefix returns the filter for values that begin with prefix. The service has no
// function for it, so the filter is a range of two comparisons, or of one if the range
// has no upper bound.
func (p Property) Prefix(prefix string) Filter {
	if p.isKey() {
		return p.Within(keys.Prefix(prefix))
	}
	return p.Within(keys.Range{From: prefix, To: prefixEnd(prefix)})
}

// prefixEnd returns the least text after every text that begins with prefix, or "" if
// there is none. Unlike [keys.Prefix] it does not skip any character, because a property
// can contain characters that are illegal in a key.
func prefixEnd(prefix string) string {
	for head := prefix; head != ""; {
		r, size := utf8.DecodeLastRuneInString(head)
		head = head[:len(head)-size]
		switch r {
		case 0xFFFF: // the last UTF-16 unit
			continue
		case 0xD7FF: // surrogates follow, which encode U+10000 and above
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

// Within returns the filter for values in r. If r has no bounds, the filter matches
// every row for PartitionKey and RowKey, and for another property every row that has it
// as a String.
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

// text is compare for a string, without an allocation for an interface value.
func (p Property) text(o op, s string) Filter {
	lit, reason := checkedString(s)
	return p.with(o, lit, reason)
}

func (p Property) with(o op, lit literal, reason string) Filter {
	if p.err != nil {
		return Filter{err: p.err}
	}
	if p.name == "" {
		return Filter{err: &Error{Reason: "the property has no name"}}
	}
	if reason != "" {
		return Filter{err: &Error{Property: p.name, Reason: reason}}
	}
	return Filter{root: compare(p.name, o, lit)}
}

// badName returns the reason why name is not a legal property name, or "" if it is.
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
			return "the name contains a character that is not allowed in an identifier"
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
