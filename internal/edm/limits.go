package edm

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Limits of one entity.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-limitations
const (
	maxTextUnits   = 32768   // UTF-16 units of a string
	maxBinary      = 1 << 16 // bytes
	maxEntityBytes = 1 << 20
)

// Size is what a row counts against the limits of the service.
type Size struct {
	Properties int // beside PartitionKey, RowKey and Timestamp; at most 252
	Bytes      int // as the service counts them; at most 1 MiB
}

// entityOverhead and propertyOverhead are of the published formula:
// 4 + 2*(keys) + sum of (8 + 2*name + value), lengths in UTF-16 units.
const (
	entityOverhead   = 4
	propertyOverhead = 8
)

// fixedSize is the size of a value whose type alone decides it.
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

// A sizer adds up a row.
type sizer struct {
	size    Size
	largest string
	most    int
	over    string // property number 253
}

func (s *sizer) add(f *field, value int) {
	n := f.cost + value
	s.size.Bytes += n
	s.size.Properties++
	if n > s.most {
		s.most, s.largest = n, f.name
	}
	if s.size.Properties == maxProperties+1 {
		s.over = f.name
	}
}

// nameCost is what a property counts beside its value.
func nameCost(name string) int { return propertyOverhead + 2*utf16Length(name) }

func (s *sizer) check() *PropertyError {
	if s.size.Properties > maxProperties {
		return tooLarge(s.over, "at most 252 properties", s.size.Properties)
	}
	if s.size.Bytes > maxEntityBytes {
		return tooLarge(s.largest, "an entity of at most 1048576 bytes", s.size.Bytes)
	}
	return nil
}

func tooLarge(name, want string, got int) *PropertyError {
	return &PropertyError{Property: name, Want: want, Got: strconv.Itoa(got), Err: azerr.ErrTooLarge}
}

var (
	wantText   = fmt.Sprintf("at most %d UTF-16 units", maxTextUnits)
	wantBinary = fmt.Sprintf("at most %d bytes", maxBinary)
)

const maxNameLength = 255

// reservedPrefix begins the names of the properties that the library adds itself.
const reservedPrefix = "azp_"

// stampName is the property that tells one write from another of the same content.
const stampName = reservedPrefix + "stamp"

// checkName answers why a property may not have this name, "" if it may: an
// identifier of C# (so no dash, no dot), at most 255 characters.
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
			return "a property name holds letters, digits and _ only"
		}
	}
	return ""
}

var nameParts = []*unicode.RangeTable{unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf}

// isReserved answers whether the library keeps this name for itself.
func isReserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// isControl answers whether a member of an entity is not a property: odata.etag
// and the like, and annotations.
func isControl(name []byte) bool {
	for _, c := range name {
		if c == '.' || c == '@' {
			return true
		}
	}
	return false
}

// utf16Length counts the UTF-16 units of valid UTF-8.
func utf16Length(s string) int {
	n := 0
	for i := range len(s) {
		// Every byte that begins a character counts one, the first of four two.
		if c := s[i]; c < 0x80 || c >= 0xC0 {
			n++
			if c >= 0xF0 {
				n++
			}
		}
	}
	return n
}
