package request

import (
	"net/http"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// The errors of the Table service that parsing can return.
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
var (
	ErrInvalidInput  = bad("InvalidInput", "One of the request inputs is not valid.")
	ErrOutOfRange    = bad("OutOfRangeInput", "One of the request inputs is out of range.")
	ErrValueTooLarge = bad("PropertyValueTooLarge", "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.")
	ErrQueryParam    = bad("InvalidQueryParameterValue", "Value for one of the query parameters specified in the request URI is invalid.")
	ErrMethod        = reply.New(http.StatusMethodNotAllowed, "MethodNotAllowed", "The requested method is not allowed on the specified resource.")

	errMethodNotPost = bad("XMethodNotUsingPost", "The request uses X-HTTP-Method with an HTTP verb other than POST.").Because("X-HTTP-Method: only with POST")
	errMethodValue   = bad("XMethodIncorrectValue", "The specified X-HTTP-Method is invalid.").Because("X-HTTP-Method: MERGE, PUT, PATCH or DELETE")
	errMethodCount   = bad("XMethodIncorrectCount", "More than one X-HTTP-Method is specified.").Because("X-HTTP-Method: once")
)

func bad(code, message string) *reply.Error {
	return reply.New(http.StatusBadRequest, code, message)
}

const maxKey = 512 // UTF-16 code units

// CheckKey applies the service's rules for a PartitionKey or RowKey, of that name.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#characters-disallowed-in-key-fields
func CheckKey(name, key string) *reply.Error {
	for _, r := range key {
		switch {
		case r < ' ', 0x7F <= r && r <= 0x9F, r == '/', r == '\\', r == '#', r == '?':
			return ErrOutOfRange.Because(name + ": a key has no control character, slash, backslash, # or ?")
		}
	}
	if !utf8.ValidString(key) {
		return ErrOutOfRange.Because(name + ": not UTF-8")
	}
	if len(key) > maxKey && UTF16Len(key) > maxKey {
		return ErrValueTooLarge.Because(name + ": a key has at most 512 UTF-16 code units")
	}
	return nil
}

// UTF16Len returns the length of s in UTF-16 code units, the service's unit for strings.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
