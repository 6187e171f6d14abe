package keys

import (
	"cmp"
	"fmt"
	"unicode/utf8"
)

// MaxUnits is the maximum length of a PartitionKey or RowKey in UTF-16 code units,
// which is 1 KiB.
// See
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model.
const MaxUnits = 512

// Key identifies one entity of a table. Either part can be empty; the zero Key is legal.
// A Key may be read concurrently.
type Key struct{ Partition, Row string }

// Validate returns an *Error if the service cannot store one of the parts. Its Part is
// "PartitionKey" or "RowKey"; PartitionKey is checked first.
func (k Key) Validate() error {
	if err := Check("PartitionKey", k.Partition); err != nil {
		return err
	}
	return Check("RowKey", k.Row)
}

// Compare orders keys as the service does: by Partition, then by Row.
func (k Key) Compare(other Key) int {
	return cmp.Or(Compare(k.Partition, other.Partition), Compare(k.Row, other.Row))
}

// Check returns an *Error if the service cannot store text as a PartitionKey or a
// RowKey. The Part of the error is part.
func Check(part, text string) error {
	if len(text) <= MaxUnits && isPlain(text) {
		return nil
	}
	units := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{Part: part, Reason: InvalidUTF8, Offset: i}
		}
		if forbidden(r) {
			return &Error{Part: part, Reason: ForbiddenRune, Rune: r, Offset: i}
		}
		units += unitsOf(r)
		if units > MaxUnits {
			return tooLong(part)
		}
		i += size
	}
	return nil
}

// isPlain reports whether text consists of ASCII characters that a key may contain.
func isPlain(text string) bool {
	for i := range len(text) {
		if !plain[text[i]] {
			return false
		}
	}
	return true
}

var plain = func() (t [256]bool) {
	for c := range rune(utf8.RuneSelf) {
		t[c] = !forbidden(c)
	}
	return t
}()

func tooLong(part string) *Error {
	return &Error{Part: part, Reason: TooLong, Offset: -1, Detail: fmt.Sprintf("the limit is %d UTF-16 units", MaxUnits)}
}

// forbidden reports whether the service rejects r in a key.
func forbidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r <= 0x9F:
		return true
	}
	return r == '/' || r == '\\' || r == '#' || r == '?'
}

func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
