package edm

import (
	"math"
	"strconv"
)

// number reads the number that begins at pos.
func (s *scanner) number(t *token) bool {
	data, i := s.data, s.pos
	t.kind, t.start, t.escaped, t.integer = tokNumber, uint32(i), false, true
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	case i < len(data) && isDigit(data[i]):
		i = digits(data, i)
	default:
		return s.badNumber(i)
	}
	if i < len(data) && data[i] == '.' {
		t.integer = false
		from := i + 1
		if i = digits(data, from); i == from {
			return s.badNumber(i)
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		t.integer, t.escaped = false, true
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = digits(data, from); i == from {
			return s.badNumber(i)
		}
	}
	t.end = uint32(i)
	s.pos = i
	return true
}

func (s *scanner) badNumber(at int) bool {
	if at >= len(s.data) {
		return s.fail(at, "cut short")
	}
	return s.fail(at, "not a legal number")
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func digits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

// parseInt parses a whole number in decimal with an optional minus sign. It returns false
// for any other text and for numbers outside int64.
func parseInt(b []byte) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return parseLongInt(b, negative)
	}
	var u uint64
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	switch {
	case negative && u <= -math.MinInt64:
		return -int64(u), true
	case u <= math.MaxInt64:
		return int64(u), !negative
	}
	return 0, false
}

// parseLongInt removes leading zeros from a number with more digits than an int64 has.
func parseLongInt(b []byte, negative bool) (int64, bool) {
	for len(b) > 19 && b[0] == '0' {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	if negative {
		b = append([]byte{'-'}, b...)
	}
	return parseInt(b)
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseFloat parses a JSON number as a float of the given number of bits. It returns false
// outside the range.
func parseFloat(b []byte, bits int) (float64, bool) {
	if bits != 64 {
		return parseSlowFloat(b, bits)
	}
	// The mantissa and the power of ten are exact, so one division rounds correctly.
	i, negative := 0, false
	if b[0] == '-' {
		i, negative = 1, true
	}
	var mantissa uint64
	decimals, point := 0, false
	if len(b)-i <= 16 {
		for ; i < len(b); i++ {
			switch c := b[i]; {
			case isDigit(c):
				mantissa = mantissa*10 + uint64(c-'0')
				if point {
					decimals++
				}
			case c == '.':
				point = true
			default:
				return parseSlowFloat(b, bits)
			}
		}
		if mantissa < 1<<53 {
			f := float64(mantissa) / powersOfTen[decimals]
			if negative {
				f = -f
			}
			return f, true
		}
	}
	return parseSlowFloat(b, bits)
}

func parseSlowFloat(b []byte, bits int) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), bits)
	return f, err == nil
}
