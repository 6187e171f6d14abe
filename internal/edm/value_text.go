package edm

import (
	"encoding/binary"
	"strconv"
	"time"
)

// The years that an Edm.DateTime may have.
const (
	minYear = 1601
	maxYear = 9999

	firstYear = "1601"
)

// appendDateTime appends t in UTC, truncated to 100 ns, with as many digits as it needs, as the
// service sends it. It returns false outside the years 1601 to 9999.
func appendDateTime(dst []byte, t time.Time) ([]byte, bool) {
	t = t.UTC()
	year, month, day := t.Date()
	if year < minYear || year > maxYear {
		return dst, false
	}
	hour, minute, second := t.Clock()
	fraction := t.Nanosecond() / 100
	n := len("2006-01-02T15:04:05")
	var b [len("2006-01-02T15:04:05.0000000Z")]byte
	put2(b[0:], year/100)
	put2(b[2:], year%100)
	b[4] = '-'
	put2(b[5:], int(month))
	b[7] = '-'
	put2(b[8:], day)
	b[10] = 'T'
	put2(b[11:], hour)
	b[13] = ':'
	put2(b[14:], minute)
	b[16] = ':'
	put2(b[17:], second)
	if fraction > 0 {
		b[n] = '.'
		put2(b[20:], fraction/100000)
		put2(b[22:], fraction/1000%100)
		put2(b[24:], fraction/10%100)
		b[26] = byte('0' + fraction%10)
		for n = 27; b[n-1] == '0'; n-- {
		}
	}
	b[n] = 'Z'
	return append(dst, b[:n+1]...), true
}

// put2 writes a number below 100 as two digits.
func put2(b []byte, v int) {
	_ = b[1]
	b[0], b[1] = byte('0'+v/10), byte('0'+v%10)
}

// A digitLayout is a text of eight bytes in which some are digits.
type digitLayout struct{ text, most uint64 }

// newLayout returns the layout of the text, in which each 0 is any digit.
func newLayout(text string) digitLayout {
	l := digitLayout{text: binary.LittleEndian.Uint64([]byte(text))}
	for i := range len(text) {
		most := uint64(0x7f) // plus one is a high bit
		if text[i] == '0' {
			most -= 9
		}
		l.most |= most << (8 * i)
	}
	return l
}

// digits returns the digits of the first eight bytes of b, one in each byte and the first in
// the lowest, and 0 for the other bytes. It returns false if b has another layout.
func (l *digitLayout) digits(b []byte) (uint64, bool) {
	x := binary.LittleEndian.Uint64(b) ^ l.text
	return x, ((x+l.most)|x)&highBits == 0
}

// pairs returns the number of each digit and the next, in the byte of the first.
func pairs(digits uint64) uint64 { return digits*10 + digits>>8 }

// pairAt returns byte i of pairs.
func pairAt(pairs uint64, i int) int { return int(pairs >> (8 * i) & 0xff) }

var (
	dateLayout     = newLayout("0000-00-")
	hourLayout     = newLayout("00T00:00")
	fractionLayout = newLayout("0000000Z")
)

// parseDateTime parses RFC 3339 text with any number of fractional digits, of which nine
// count, and Z or an offset. The result is in UTC.
func parseDateTime(b []byte) (time.Time, bool) {
	if len(b) < len("2006-01-02T15:04:05Z") || b[16] != ':' {
		return time.Time{}, false
	}
	date, ok := dateLayout.digits(b)
	clock, ok2 := hourLayout.digits(b[8:])
	if !ok || !ok2 {
		return time.Time{}, false
	}
	date, clock = pairs(date), pairs(clock)
	year, month, day := pairAt(date, 0)*100+pairAt(date, 2), pairAt(date, 5), pairAt(clock, 0)
	hour, minute, second := pairAt(clock, 3), pairAt(clock, 6), number2(b[17:])
	if uint(month-1) > 11 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	nanos, offset, ok := parseFraction(b[19:])
	if !ok {
		return time.Time{}, false
	}
	seconds := int64(daysSince1970(year, month, day))*86400 + int64(hour*3600+minute*60+second-offset)
	return time.Unix(seconds, int64(nanos)).UTC(), true
}

// parseFraction parses what follows the seconds: a fraction or none, and Z or an offset.
func parseFraction(b []byte) (nanos, offset int, ok bool) {
	if b[0] != '.' {
		offset, ok = parseOffset(b)
		return 0, offset, ok
	}
	if len(b) == len(".0000000Z") { // as the service sends it
		if x, ok := fractionLayout.digits(b[1:]); ok {
			x = pairs(x)
			return ((pairAt(x, 0)*100+pairAt(x, 2))*100+pairAt(x, 4))*1000 + pairAt(x, 6)*10, 0, true
		}
	}
	end := digits(b, 1)
	if end == 1 {
		return 0, 0, false
	}
	for i := 1; i < 10; i++ {
		nanos *= 10
		if i < end {
			nanos += int(b[i] - '0')
		}
	}
	offset, ok = parseOffset(b[end:])
	return nanos, offset, ok
}

// parseOffset parses Z or ±hh:mm and returns seconds.
func parseOffset(b []byte) (int, bool) {
	if len(b) == 1 && b[0] == 'Z' {
		return 0, true
	}
	if len(b) != 6 || b[0] != '+' && b[0] != '-' || b[3] != ':' {
		return 0, false
	}
	hours, minutes := number2(b[1:]), number2(b[4:])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	offset := hours*3600 + minutes*60
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// inZone returns the time in the zone of its text, which has an offset.
func inZone(t time.Time, text []byte) time.Time {
	if offset, _ := parseOffset(text[len(text)-len("+00:00"):]); offset != 0 {
		return t.In(time.FixedZone("", offset))
	}
	return t
}

// number2 returns the number of two digits at the start of b, a million if they are not
// digits.
func number2(b []byte) int {
	if !isDigit(b[0]) || !isDigit(b[1]) {
		return 1_000_000
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month-1]
}

// daysSince1970 counts days in the Gregorian calendar. Years begin in March, so that the
// leap day is the last one.
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = -1
	}
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
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
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		i, err := strconv.ParseInt(string(b), 10, 64)
		return i, err == nil && b[0] != '+'
	}
	var i int64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		i = i*10 + int64(c-'0')
	}
	if negative {
		i = -i
	}
	return i, true
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

const hexDigits = "0123456789abcdef"

// guidPairs are the positions of the pairs of digits of a GUID (8-4-4-4-12).
var guidPairs = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

func appendGUID(dst []byte, g *[16]byte) []byte {
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for n, i := range guidPairs {
		text[i], text[i+1] = hexDigits[g[n]>>4], hexDigits[g[n]&15]
	}
	return append(dst, text[:]...)
}

// parseGUID parses 8-4-4-4-12 hexadecimal digits of either case.
func parseGUID(g *[16]byte, b []byte) bool {
	if len(b) != 36 {
		return false
	}
	p := (*[36]byte)(b)
	if p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-' {
		return false
	}
	invalid := byte(0)
	for n, i := range guidPairs {
		high, low := hexValue[p[i]], hexValue[p[i+1]]
		invalid |= high | low
		g[n] = high<<4 | low
	}
	return invalid <= 15
}

// The functions plainX report whether a valid text is the one that is written for its value.

func plainInt(b []byte) bool {
	if len(b) > 1 && b[0] == '-' {
		return b[1] != '0'
	}
	return len(b) == 1 || len(b) > 0 && b[0] != '0'
}

// plainDouble returns false if in doubt. A number of at most 15 digits is the shortest one of
// its float64.
func plainDouble(t *token, b []byte) bool {
	if t.integer || t.escaped || len(b) > 16 {
		return false // whole, with an exponent, or with more digits
	}
	if b[0] == '0' && len(b) > 7 && string(b[1:8]) == ".000000" || b[0] == '-' && len(b) > 8 && string(b[1:9]) == "0.000000" {
		return false // written with an exponent
	}
	n := len(b)
	return b[n-1] != '0' || b[n-2] == '.'
}

// plainTime judges a time with at most the given number of decimals.
func plainTime(b []byte, decimals int) bool {
	const seconds = len("2006-01-02T15:04:05")
	n := len(b) - 1
	if n < seconds || b[n] != 'Z' {
		return false
	}
	return n == seconds || b[n-1] != '0' && n <= seconds+1+decimals
}

func plainGUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	// All its characters but upper-case letters have this bit.
	const bit = 0x20 * eachByte
	p, u := (*[36]byte)(b), binary.LittleEndian.Uint64
	return u(p[:8])&u(p[8:16])&u(p[16:24])&u(p[24:32])&u(p[28:])&bit == bit
}

// plainBase64 judges text without escapes, which cannot contain a line break.
func plainBase64(b []byte) bool {
	n := len(b)
	switch {
	case n == 0:
		return true
	case n%4 != 0:
		return false
	case b[n-1] != '=':
		return true
	case b[n-2] == '=':
		return base64Value[b[n-3]]&15 == 0
	}
	return base64Value[b[n-2]]&3 == 0
}

// base64Value has the bits of each character of base64.
var base64Value = func() (t [256]uint8) {
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = uint8(i)
	}
	return t
}()
