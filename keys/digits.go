package keys

import (
	"fmt"
	"strconv"
)

// Digits returns v as width decimal digits, with leading zeros, so that text order
// is number order: 123 with a width of 8 is "00000123". It returns an *Error if v
// does not fit, or if width is outside 1 to MaxUnits.
func Digits(v uint64, width int) (string, error) {
	if err := checkWidth("Digits", width); err != nil {
		return "", err
	}
	var buf [20]byte
	dst, err := appendDigits(buf[:0], "Digits", v, width)
	return string(dst), err
}

// ParseDigits is the inverse of Digits, for any width: it accepts 1 to MaxUnits
// decimal digits whose value is at most 18446744073709551615.
func ParseDigits(s string) (uint64, error) { return parseDigits("ParseDigits", s) }

func checkWidth(part string, width int) error {
	if width < 1 || width > MaxUnits {
		return &Error{Part: part, Reason: BadDefinition, Offset: -1,
			Detail: fmt.Sprintf("the width is %d, want 1 to %d", width, MaxUnits)}
	}
	return nil
}

// appendDigits appends v in exactly width digits, 1 or more.
func appendDigits(dst []byte, part string, v uint64, width int) ([]byte, error) {
	at := len(dst)
	if dst = appendPadded(dst, v, width); len(dst)-at > width {
		return dst[:at], &Error{Part: part, Reason: TooWide, Offset: -1, Detail: fmt.Sprintf("the width is %d", width)}
	}
	return dst, nil
}

// appendPadded appends v in at least width digits.
func appendPadded(dst []byte, v uint64, width int) []byte {
	var buf [20]byte
	text := strconv.AppendUint(buf[:0], v, 10)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

func parseDigits(part, s string) (uint64, error) {
	if err := onlyDigits(part, s, 0); err != nil {
		return 0, err
	}
	if s == "" || len(s) > MaxUnits {
		return 0, &Error{Part: part, Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want 1 to %d digits", MaxUnits)}
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "more than 64 bits"}
	}
	return v, nil
}

// onlyDigits returns an error for the first character of s, from offset start on,
// that is not an ASCII digit.
func onlyDigits(part, s string, start int) error {
	for i, r := range s[start:] {
		if r < '0' || r > '9' {
			return &Error{Part: part, Reason: UnexpectedRune, Rune: r, Offset: start + i}
		}
	}
	return nil
}

// parseFixed reads s as width decimal digits.
func parseFixed(part, s string, width int) (uint64, error) {
	if len(s) != width {
		return 0, &Error{Part: part, Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want %d digits", width)}
	}
	return parseDigits(part, s)
}
