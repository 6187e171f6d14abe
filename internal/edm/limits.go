package edm

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Limits of one entity.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-limitations
const (
	maxTextUnits   = 32768   // UTF-16 units of a string
	maxBinary      = 1 << 16 // bytes
	maxEntityBytes = 1 << 20
)

// entitySize is the size of a row as the service counts it against its limits.
type entitySize struct {
	Properties int // without PartitionKey, RowKey and Timestamp; at most 252
	Bytes      int // at most 1 MiB
}

// entityOverhead and propertyOverhead are the constants of the published formula:
// 4 + 2*(keys) + sum of (8 + 2*name + value), lengths in UTF-16 units.
const (
	entityOverhead   = 4
	propertyOverhead = 8
)

// fixedSize returns the size of a value of a type with a fixed size.
func fixedSize(edm Type) int {
	switch edm {
	case Boolean:
		return 1
	case Int32:
		return 4
	case Guid:
		return 16
	}
	return 8
}

// A sizer adds up the size of a row.
type sizer struct {
	size        entitySize
	largest     propertyName // of the property that takes the most bytes
	largestSize int
	excess      propertyName // of property number 253
}

// propertyName is a name that becomes text only if an error needs it.
type propertyName struct {
	text string
	raw  []byte // instead of text
}

func (n propertyName) String() string { return n.text + string(n.raw) }

func (s *sizer) add(f *field, value int) { s.count(propertyName{text: f.name}, f.nameSize+value) }

// count counts a property of n bytes, including its name.
func (s *sizer) count(name propertyName, n int) {
	s.size.Bytes += n
	s.size.Properties++
	if n > s.largestSize {
		s.largestSize, s.largest = n, name
	}
	if s.size.Properties == maxProperties+1 {
		s.excess = name
	}
}

// nameSize returns what a property counts without its value.
func nameSize[S string | []byte](name S) int { return propertyOverhead + 2*utf16Length(name) }

func (s *sizer) check() *types.PropertyError {
	if s.size.Properties > maxProperties {
		return tooLarge(s.excess.String(), "at most 252 properties", s.size.Properties)
	}
	if s.size.Bytes > maxEntityBytes {
		return tooLarge(s.largest.String(), "an entity of at most 1048576 bytes", s.size.Bytes)
	}
	return nil
}

func tooLarge(name, want string, got int) *types.PropertyError {
	return &types.PropertyError{Property: name, Want: want, Got: strconv.Itoa(got), Err: azerr.ErrTooLarge}
}

var (
	wantText   = fmt.Sprintf("at most %d UTF-16 units", maxTextUnits)
	wantBinary = fmt.Sprintf("at most %d bytes", maxBinary)
)

const maxNameLength = 255

// reservedPrefix begins the names of the properties that the library adds itself.
const reservedPrefix = "azp_"

// stampName is the property that distinguishes one write from another with the same
// content.
const stampName = reservedPrefix + "stamp"

// checkName returns why a property must not have this name, or "" if it may. Names are
// identifiers of C# (so no dash, no dot) of at most 255 characters.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-names
func checkName(name string) string {
	if name == "" {
		return "a property needs a name"
	}
	if len(name) > maxNameLength && utf16Length(name) > maxNameLength {
		return "a property name has at most 255 characters"
	}
	for i, r := range name {
		switch {
		case r == unicode.ReplacementChar:
			return "a property name is valid text"
		case r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		case i == 0:
			return "a property name begins with a letter or _"
		case unicode.IsOneOf(nameParts, r):
		default:
			return "a property name consists of letters, digits and _"
		}
	}
	return ""
}

var nameParts = []*unicode.RangeTable{unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf}

// IsReserved reports whether the property name is reserved for this library.
func IsReserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// IsOwnName reports whether callers may have a property with that name of their own: one
// that the service accepts, and that is neither reserved nor that of a key or Timestamp.
func IsOwnName(name string) bool {
	return checkName(name) == "" && !IsReserved(name) && !slices.Contains(systemNames[:], name)
}

// isControl reports whether a member of an entity is not a property but a control
// member, such as odata.etag, or an annotation.
func isControl(name []byte) bool { return bytes.ContainsAny(name, ".@") }

// utf16Length returns the length of valid UTF-8 in UTF-16 units.
func utf16Length[S string | []byte](s S) int {
	n := 0
	for i := range len(s) {
		// The first byte of a character counts as one unit, or two if there are four bytes.
		if c := s[i]; c < 0x80 || c >= 0xC0 {
			n++
			if c >= 0xF0 {
				n++
			}
		}
	}
	return n
}

// FieldError is a Go type that cannot be stored as an entity, and why.
type FieldError struct {
	Type   string // the Go type
	Field  string // the field, as in the Go source
	Reason string
	Err    error // nil for none
}

func (e *FieldError) Unwrap() error { return e.Err }

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
