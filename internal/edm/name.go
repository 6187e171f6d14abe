package edm

import (
	"strings"
	"unicode"
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
