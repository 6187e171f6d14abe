package keys

import (
	"fmt"
	"strconv"
)

// Int64 returns v as 20 characters, so that text order is number order, negative
// numbers first. A number of 0 or more is written in decimal with leading zeros. A
// negative number is written as "-" and the 19 digits of its ten's complement,
// 10^19 + v, which increases with v:
//
//	-9223372036854775808   -0776627963145224192
//	                 -42   -9999999999999999958
//	                  -1   -9999999999999999999
//	                   0   00000000000000000000
//	                  42   00000000000000000042
//	 9223372036854775807   09223372036854775807
func Int64(v int64) string {
	var buf [int64Width]byte
	return string(appendInt64(buf[:0], v))
}

// ParseInt64 is the inverse of Int64. It returns an *Error for any other text.
func ParseInt64(s string) (int64, error) { return parseInt64("ParseInt64", s) }

const (
	int64Width = 20
	// tenTo19 is more than the magnitude of any int64, so the ten's complement of a
	// negative number is positive and has 19 digits or fewer.
	tenTo19 = 10_000_000_000_000_000_000
)

func appendInt64(dst []byte, v int64) []byte {
	width, u := int64Width, uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		// Modulo 2^64 this is 10^19 + v.
		width, u = width-1, u+tenTo19
	}
	return appendPadded(dst, u, width)
}

func parseInt64(part, s string) (int64, error) {
	if len(s) != int64Width {
		return 0, &Error{Part: part, Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want %d characters", int64Width)}
	}
	digits := 0
	if s[0] == '-' {
		digits = 1
	}
	if err := onlyDigits(part, s, digits); err != nil {
		return 0, err
	}
	u, err := strconv.ParseUint(s[digits:], 10, 64)
	v := int64(u)
	if digits == 1 {
		v = int64(u - tenTo19)
	}
	// A number that is out of range has overflowed to the other sign.
	if err != nil || (v < 0) != (digits == 1) {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the value overflows int64"}
	}
	return v, nil
}
