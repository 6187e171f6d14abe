package edm

import (
	"strconv"
	"strings"
)

// PropertyError is a property that cannot be stored, or cannot be read into its field. It
// names the property and the types or limits, never the value.
type PropertyError struct {
	Property string // name of the property
	Want     string // what the field or the service requires
	Got      string // what was found
	Err      error  // ErrTooLarge at a size limit, or the error of a text or JSON method; not part of the message
}

func (e *PropertyError) Error() string {
	var b strings.Builder
	b.WriteString("property ")
	b.WriteString(e.Property)
	b.WriteString(": want ")
	b.WriteString(e.Want)
	b.WriteString(", got ")
	b.WriteString(e.Got)
	return b.String()
}

func (e *PropertyError) Unwrap() error { return e.Err }

// FieldError is a Go type that cannot be stored as an entity, and why.
type FieldError struct {
	Type   string // the Go type
	Field  string // the field, as in the Go source
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "type " + e.Type + ": " + e.Reason
	}
	return "type " + e.Type + ": field " + e.Field + ": " + e.Reason
}

// MalformedError is a body that is not valid JSON, is cut short, or is not an entity or a
// page. The message contains no text of the body.
type MalformedError struct {
	Offset int // in bytes
	Reason string
}

func (e *MalformedError) Error() string {
	return "malformed body at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}
