package edm

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
	allSlash = '\\' * eachByte
	allTwos  = 0x02 * eachByte
	allBangs = '!' * eachByte
)

// stops returns the high bits of the bytes of x that are a quote, a backslash, a control
// character or not ASCII. Exclusive or with 2 exchanges the quote and the space, so that the
// quote and all control characters are below '!'. A borrow can only mark a byte above one
// that is marked correctly, so the lowest mark is exact.
func stops(x uint64) uint64 {
	return (((x ^ allTwos) - allBangs) | ((x ^ allSlash) - eachByte) | x) & highBits
}

// text reads the string whose opening quote is at pos.
func (s *scanner) text(t *token) bool {
	i := s.pos + 1
	data := s.data
	t.kind, t.start = tokString, uint32(i)
	escaped := false
	for {
		// Skip eight bytes at a time up to the first that is a quote, a backslash, a
		// control character or not ASCII.
		for i+8 <= len(data) {
			if m := stops(binary.LittleEndian.Uint64(data[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(data) {
			return s.fail(i, "cut short")
		}
		switch c := data[i]; {
		case c == '"':
			t.end = uint32(i)
			t.escaped = escaped
			s.pos = i + 1
			return true
		case c == '\\':
			escaped = true
			n := escapeLength(data[i:])
			if n == 0 {
				return s.fail(i, "not a legal escape")
			}
			i += n
		case c < ' ':
			return s.fail(i, "control character in a string")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(i, "not UTF-8")
			}
			i += n
		}
	}
}

// escapeLength returns the number of bytes of the escape at the start of b, 0 if it is not
// valid.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		h := hexValue[c]
		if h > 15 {
			return 0, false
		}
		r = r<<4 | rune(h)
	}
	return r, true
}

// hexValue is the value of a hexadecimal digit, 255 for any other byte.
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

// unescape appends the text of a scanned string to dst. It returns false if a \u escape is
// half of a surrogate pair. That is valid JSON, but cannot be represented in UTF-8;
// encoding/json would replace it by U+FFFD.
func unescape(dst, raw []byte) ([]byte, bool) {
	for i := 0; i < len(raw); {
		if n := bytes.IndexByte(raw[i:], '\\'); n < 0 {
			return append(dst, raw[i:]...), true
		} else if n > 0 {
			dst = append(dst, raw[i:i+n]...)
			i += n
		}
		c := raw[i+1]
		switch c {
		case 'u':
			r, _ := hex4(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				var low rune
				if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					low, _ = hex4(raw[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return dst, false
				}
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		}
		dst = append(dst, c)
		i += 2
	}
	return dst, true
}
