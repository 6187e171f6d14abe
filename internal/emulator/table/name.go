package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

const (
	maxKey        = 512 // UTF-16 code units
	maxName       = 255 // characters
	maxProperties = 252 // own properties of an entity
	maxEntity     = 1 << 20
)

// checkName holds a property name to the rules for C# identifiers.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-names
func checkName(name string) *rest.Error {
	if len(name) > maxName && utf8.RuneCountInString(name) > maxName {
		return errNameTooLong
	}
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
		case '0' <= r && r <= '9' && i > 0:
		case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.Nl):
		case r >= utf8.RuneSelf && i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Cf):
		default:
			return errNameInvalid
		}
	}
	if name == "" {
		return errNameInvalid
	}
	return nil
}

// checkKey holds a PartitionKey or RowKey to the service's rules.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#characters-disallowed-in-key-fields
func checkKey(key string) *rest.Error {
	for _, r := range key {
		switch {
		case r < ' ', 0x7F <= r && r <= 0x9F, r == '/', r == '\\', r == '#', r == '?':
			return errOutOfRange
		}
	}
	if !utf8.ValidString(key) {
		return errOutOfRange
	}
	if len(key) > maxKey && utf16Len(key) > maxKey {
		return errValueTooLarge
	}
	return nil
}

// checkTable holds a table name to the service's rules.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#table-names
func checkTable(name string) *rest.Error {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return errResourceName
		}
	}
	if len(name) < 3 || len(name) > 63 {
		return errOutOfRange
	}
	if strings.EqualFold(name, "tables") {
		return errInvalidInput
	}
	return nil
}
