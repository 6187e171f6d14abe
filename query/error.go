package query

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// An Error says why a filter could not be built, or why it does not fit a
// [Schema]. It names the property, never a value.
type Error struct {
	Property string // the property as it was given; "" when the filter as a whole is at fault
	Reason   string // what is wrong, one clause
}

func (e *Error) Error() string {
	if e.Property == "" {
		return "query: " + e.Reason
	}
	return "query: property " + quoteName(e.Property) + ": " + e.Reason
}

// A SyntaxError says where a text stops being a filter that the Table service
// accepts. It holds no part of the text.
type SyntaxError struct {
	Offset int    // in bytes, from 0
	Reason string // what is wrong there, one clause
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("query: offset %d: %s", e.Offset, e.Reason)
}

// quoteName prints a property name in one line. A name that is not a legal
// one may be anything, so it is cut.
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
