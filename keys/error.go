package keys

import (
	"errors"
	"fmt"
	"strings"
)

// ErrBadKey is matched by every error of this package.
var ErrBadKey = errors.New("bad key")

// Error says what is wrong with a key, a part of one, or a value that was to
// become one. It never holds the key's text, so it may be logged; the one
// character in Rune is the most that it tells.
type Error struct {
	// Part names what is wrong: "PartitionKey", "RowKey", "field Year" of a
	// Layout, or the function that refused, such as "ParseTicks".
	Part string
	// Reason is the rule that was broken.
	Reason Reason
	// Offset counts the bytes before the fault in the text of that part. It is -1
	// where the fault has no place in a text.
	Offset int
	// Rune is the character at fault, and 0 where Reason is not about one.
	Rune rune
	// Detail adds what a program's author has to know, such as a limit. It may be
	// empty.
	Detail string
}

// Error names the part, the rule and the place.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("keys: ")
	if e.Part != "" {
		b.WriteString(e.Part)
		b.WriteString(": ")
	}
	b.WriteString(e.Reason.String())
	if e.Reason.aboutRune() {
		fmt.Fprintf(&b, " %U", e.Rune)
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (at byte %d)", e.Offset)
	}
	return b.String()
}

// Is reports whether target is ErrBadKey.
func (e *Error) Is(target error) bool { return target == ErrBadKey }

// Reason is the rule that an Error's key breaks.
type Reason uint8

const (
	// ForbiddenRune: the character cannot stand in a key.
	ForbiddenRune Reason = iota + 1
	// InvalidUTF8: the text is not valid UTF-8.
	InvalidUTF8
	// TooLong: the key has more than MaxUnits UTF-16 code units.
	TooLong
	// TooWide: the number has more digits than the width allows.
	TooWide
	// OutOfRange: the value has no key text, such as NaN, a year outside 1 to
	// 9999, a negative number in a field of digits.
	OutOfRange
	// Malformed: the text is not what the counterpart writes.
	Malformed
	// UnexpectedRune: the text is not what the counterpart writes, by this
	// character.
	UnexpectedRune
	// BadDefinition: the program asks for what cannot be: a width of 0, a layout
	// with an unknown tag, no buckets.
	BadDefinition
)

// String gives the reason in words.
func (r Reason) String() string {
	switch r {
	case ForbiddenRune:
		return "forbidden character"
	case InvalidUTF8:
		return "not valid UTF-8"
	case TooLong:
		return "too long"
	case TooWide:
		return "too many digits"
	case OutOfRange:
		return "value out of range"
	case Malformed:
		return "malformed text"
	case UnexpectedRune:
		return "unexpected character"
	case BadDefinition:
		return "bad definition"
	}
	return "unknown reason"
}

func (r Reason) aboutRune() bool { return r == ForbiddenRune || r == UnexpectedRune }
