package keys

import (
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// ErrBadKey is matched by every error of this package.
var ErrBadKey = azerr.ErrBadKey

// Error describes why a key, a part of a key, or a value cannot be used. It can be
// logged: apart from the single character in Rune, it does not contain the text of
// the key.
type Error struct {
	// Part names what is invalid: "PartitionKey", "RowKey", "field Year" of a
	// Layout, or the function that returned the error, such as "ParseTicks".
	Part string
	// Reason is the rule that was broken.
	Reason Reason
	// Offset is the byte offset of the fault in the text of Part, or -1 if the
	// fault has no position.
	Offset int
	// Rune is the character at fault if Reason is ForbiddenRune or UnexpectedRune,
	// and otherwise 0.
	Rune rune
	// Detail adds information for the author of the program, such as a limit. It
	// can be empty.
	Detail string
}

// Error returns a message with the part, the reason, the detail and the offset.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("keys: ")
	if e.Part != "" {
		b.WriteString(e.Part + ": ")
	}
	b.WriteString(e.Reason.String())
	if e.Reason.aboutRune() {
		fmt.Fprintf(&b, " %U", e.Rune)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
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
	// ForbiddenRune: the character is not allowed in a key.
	ForbiddenRune Reason = iota + 1
	// InvalidUTF8: the text is not valid UTF-8.
	InvalidUTF8
	// TooLong: the key has more than MaxUnits UTF-16 code units.
	TooLong
	// TooWide: the number has more digits than the width allows.
	TooWide
	// OutOfRange: the value cannot be formatted, such as NaN, a year outside 1 to
	// 9999, or a negative number in a field with the tag digits.
	OutOfRange
	// Malformed: the text to parse does not have the expected format.
	Malformed
	// UnexpectedRune: the text to parse does not have the expected format, because
	// of the character in Rune.
	UnexpectedRune
	// BadDefinition: the program passed an invalid definition, such as a width of
	// 0, a layout with an unknown tag, or 0 buckets.
	BadDefinition
)

// String returns the reason in words.
func (r Reason) String() string {
	if r < ForbiddenRune || r > BadDefinition {
		return "unknown reason"
	}
	return reasons[r]
}

var reasons = [...]string{
	ForbiddenRune:  "forbidden character",
	InvalidUTF8:    "not valid UTF-8",
	TooLong:        "too long",
	TooWide:        "too many digits",
	OutOfRange:     "value out of range",
	Malformed:      "malformed text",
	UnexpectedRune: "unexpected character",
	BadDefinition:  "bad definition",
}

func (r Reason) aboutRune() bool { return r == ForbiddenRune || r == UnexpectedRune }
