package keys

import (
	"encoding/hex"
	"fmt"
)

// UUID returns u as 36 characters in lower case, such as
// "8f3a2c10-0001-4e5f-9a6b-7c8d9e0f1a2b". Text order is byte order.
func UUID(u [16]byte) string {
	var buf [uuidWidth]byte
	return string(appendUUID(buf[:0], u[:]))
}

// ParseUUID is the inverse of UUID. It returns an *Error for upper case, braces and
// missing dashes.
func ParseUUID(s string) ([16]byte, error) { return parseUUID("ParseUUID", s) }

const uuidWidth = 36

func appendUUID(dst, u []byte) []byte {
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{b})
	}
	return dst
}

func parseUUID(part, s string) ([16]byte, error) {
	var u [16]byte
	if len(s) != uuidWidth {
		return u, &Error{Part: part, Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want %d characters", uuidWidth)}
	}
	for i, r := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash && r != '-' || !dash && !isHex(r) {
			return u, &Error{Part: part, Reason: UnexpectedRune, Rune: r, Offset: i}
		}
	}
	bare := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	hex.Decode(u[:], []byte(bare)) // cannot fail for these characters
	return u, nil
}
