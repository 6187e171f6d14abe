package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

const (
	maxCharacters = 1024
	maxSegments   = 254
)

// ValidBlob reports whether a blob can have the name, and no part of a path from the client to the
// service changes it: it is UTF-8 without control characters, noncharacters and backslashes, and
// no path segment is empty or ends with a dot. So it has no segment ".." either.
//
// It is for a name that was read from a message, a row or a blob: the request to it must not lead
// to another place than the one that the name was written for.
//
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
func ValidBlob(name string) bool {
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxCharacters || strings.ContainsFunc(name, notInNames) {
		return false
	}
	n := 0
	for segment := range strings.SplitSeq(name, "/") {
		if n++; segment == "" || strings.HasSuffix(segment, ".") || n > maxSegments {
			return false
		}
	}
	return true
}

func notInNames(r rune) bool {
	return unicode.IsControl(r) || r == '\\' || r == 0xFFFE || r == 0xFFFF
}

// IsGenerated reports whether the name is prefix and a UUID in the form in which this library
// writes it. prefix is the program's own.
func IsGenerated(name, prefix string) bool {
	text, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
