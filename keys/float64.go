package keys

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

// Float64 returns v as 16 lower-case hexadecimal digits, so that text order is number
// order, from -Inf to +Inf. The digits are the IEEE 754 bits of v, with the sign bit
// set if v is 0 or more, and with all bits inverted if v is negative:
//
//	-Inf   000fffffffffffff
//	-1.5   4007ffffffffffff
//	   0   8000000000000000
//	 1.5   bff8000000000000
//	+Inf   fff0000000000000
//
// Minus zero equals zero and has the same text. NaN has no order, so it is an *Error.
func Float64(v float64) (string, error) {
	var buf [float64Width]byte
	dst, err := appendFloat64(buf[:0], "Float64", v)
	return string(dst), err
}

// ParseFloat64 is the inverse of Float64. It never returns minus zero. It returns an
// *Error for any other text.
func ParseFloat64(s string) (float64, error) { return parseFloat64("ParseFloat64", s) }

const (
	float64Width = 16
	signBit      = 1 << 63
)

func appendFloat64(dst []byte, part string, v float64) ([]byte, error) {
	if math.IsNaN(v) {
		return dst, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "NaN has no order"}
	}
	if v == 0 {
		v = 0
	}
	bits := math.Float64bits(v)
	if bits&signBit == 0 {
		bits |= signBit
	} else {
		bits = ^bits
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], bits)
	return hex.AppendEncode(dst, b[:]), nil
}

func parseFloat64(part, s string) (float64, error) {
	if len(s) != float64Width {
		return 0, &Error{Part: part, Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want %d hexadecimal digits", float64Width)}
	}
	for i, r := range s {
		if !isHex(r) {
			return 0, &Error{Part: part, Reason: UnexpectedRune, Rune: r, Offset: i}
		}
	}
	bits, _ := strconv.ParseUint(s, 16, 64) // cannot fail for 16 digits
	if bits&signBit != 0 {
		bits &^= signBit
	} else {
		bits = ^bits
	}
	v := math.Float64frombits(bits)
	if math.IsNaN(v) || v == 0 && bits != 0 {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "NaN or minus zero"}
	}
	return v, nil
}

// isHex reports whether r is a lower case hexadecimal digit.
func isHex(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' }
