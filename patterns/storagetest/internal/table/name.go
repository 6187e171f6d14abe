package table

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

const (
	maxName       = 255 // characters
	maxProperties = 252 // own properties of an entity
	maxEntity     = 1 << 20
)

// checkName refuses a property name that is not a C# identifier.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-names
func checkName(name string) *reply.Error {
	if len(name) > maxName && utf8.RuneCountInString(name) > maxName {
		return errNameTooLong.Because(name + ": the name of a property has at most 255 characters")
	}
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
		case '0' <= r && r <= '9' && i > 0:
		case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.Nl):
		case r >= utf8.RuneSelf && i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Cf):
		default:
			return errNameInvalid.Because(strconv.Quote(name) + ": the name of a property is a C# identifier")
		}
	}
	if name == "" {
		return errNameInvalid.Because("a property has an empty name")
	}
	return nil
}

// checkTable refuses an invalid table name.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#table-names
func checkTable(name string) *reply.Error {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return errResourceName.Because("TableName: letters and digits only, and a letter first")
		}
	}
	if len(name) < 3 || len(name) > 63 {
		return errOutOfRange.Because("TableName: 3 to 63 characters")
	}
	if strings.EqualFold(name, "tables") {
		return errInvalidInput.Because("TableName: tables is reserved")
	}
	return nil
}
