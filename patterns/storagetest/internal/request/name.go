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
		return reply.NameLength("the name of a queue or container has 3 to 63 characters")
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
			return reply.InvalidName(nameForm)
		}
	}
	if dash {
		return reply.InvalidName(nameForm)
	}
	return nil
}

const nameForm = "the name of a queue or container has lower-case letters, digits and single dashes, with a letter or digit at both ends"

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
		return reply.InvalidURI("the name of a blob is not UTF-8")
	}
	if utf8.RuneCountInString(name) > 1024 {
		return reply.NameLength("the name of a blob has at most 1,024 characters")
	}
	if strings.Count(name, "/") >= 254 {
		return reply.InvalidName("the name of a blob has at most 254 segments")
	}
	for _, r := range name {
		if r < 0x20 || r >= 0x7F && r <= 0x9F {
			return reply.InvalidName("the name of a blob has no control characters")
		}
	}
	return nil
}
