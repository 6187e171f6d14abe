package request

import (
	"strings"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// checkName applies the rules for the names of containers and queues: 3 to 63 lower-case
// letters, digits and single dashes, with a letter or digit at both ends.
// https://learn.microsoft.com/rest/api/storageservices/naming-queues-and-metadata
func checkName(name string) *reply.Error {
	if len(name) < 3 || len(name) > 63 {
		return reply.NameLength()
	}
	dash := true // a dash must not come first
	for i := range len(name) {
		b := name[i]
		switch {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
			dash = false
		case b == '-' && !dash:
			dash = true
		default:
			return reply.InvalidName()
		}
	}
	if dash {
		return reply.InvalidName()
	}
	return nil
}

const rootContainer = "$root"

// checkContainer applies the naming rules of
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
func checkContainer(name string) *reply.Error {
	switch name {
	case rootContainer, "$logs", "$web":
		return nil
	}
	return checkName(name)
}

// checkBlob applies the rules for the name of a blob: 1 to 1,024 characters, at
// most 254 path segments, no control characters.
func checkBlob(name string) *reply.Error {
	if !utf8.ValidString(name) {
		return reply.InvalidURI()
	}
	if utf8.RuneCountInString(name) > 1024 {
		return reply.NameLength()
	}
	if strings.Count(name, "/") >= 254 {
		return reply.InvalidName()
	}
	for _, r := range name {
		if r < 0x20 || r >= 0x7F && r <= 0x9F {
			return reply.InvalidName()
		}
	}
	return nil
}
