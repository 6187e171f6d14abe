package query

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// An Error describes why a filter could not be built, or why it does not match a
// [Schema]. It contains the name of the property, but no value.
type Error struct {
	Property string // name of the property as passed to Prop; "" if the error is about the whole filter
	Reason   string // one clause
}

// Error returns the property and the reason.
func (e *Error) Error() string {
	if e.Property == "" {
		return "query: " + e.Reason
	}
	return "query: property " + quoteName(e.Property) + ": " + e.Reason
}

// A SyntaxError describes why a text is not a filter that the Table service accepts. It
// does not contain any part of the text.
type SyntaxError struct {
	Offset int    // of the error, in bytes from 0
	Reason string // one clause
}

// Error returns the offset and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("query: offset %d: %s", e.Offset, e.Reason)
}

// quoteName quotes a property name for an error message. An illegal name can have any
// length, so it is truncated.
func quoteName(name string) string {
	const limit = 64
	if len(name) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		return strconv.Quote(name[:cut]) + "…"
	}
	return strconv.Quote(name)
}
