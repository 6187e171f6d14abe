package edm

import "time"

// The years that an Edm.DateTime may have.
const (
	minYear = 1601
	maxYear = 9999
)

// appendDateTime appends t in UTC, truncated to 100 ns, with 7 digits. It returns false
// outside the years 1601 to 9999.
func appendDateTime(dst []byte, t time.Time) ([]byte, bool) {
	t = t.UTC()
	year, month, day := t.Date()
	if year < minYear || year > maxYear {
		return dst, false
	}
	hour, minute, second := t.Clock()
	fraction := t.Nanosecond() / 100
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
	b[19] = '.'
	put2(b[20:], fraction/100000)
	put2(b[22:], fraction/1000%100)
	put2(b[24:], fraction/10%100)
	b[26] = byte('0' + fraction%10)
	b[27] = 'Z'
	return append(dst, b[:]...), true
}

// put2 writes a number below 100 as two digits.
func put2(b []byte, v int) {
	_ = b[1]
	b[0], b[1] = byte('0'+v/10), byte('0'+v%10)
}

// parseDateTime parses RFC 3339 text with any number of fractional digits, of which nine
// count, and Z or an offset. The result is in UTC.
func parseDateTime(b []byte) (time.Time, bool) {
	if len(b) < len("2006-01-02T15:04:05Z") ||
		b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return time.Time{}, false
	}
	year, month, day := number2(b[0:])*100+number2(b[2:]), number2(b[5:]), number2(b[8:])
	hour, minute, second := number2(b[11:]), number2(b[14:]), number2(b[17:])
	// number2 of anything but two digits is far out of every range.
	if uint(year) > 9999 || uint(month-1) > 11 || day < 1 || day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	b = b[19:]
	nanos := 0
	if b[0] == '.' {
		end := digits(b, 1)
		if end == 1 {
			return time.Time{}, false
		}
		for i := 1; i < 10; i++ {
			nanos *= 10
			if i < end {
				nanos += int(b[i] - '0')
			}
		}
		b = b[end:]
	}
	offset, ok := parseOffset(b)
	if !ok {
		return time.Time{}, false
	}
	seconds := int64(daysSince1970(year, month, day))*86400 + int64(hour*3600+minute*60+second-offset)
	return time.Unix(seconds, int64(nanos)).UTC(), true
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

const hexDigits = "0123456789abcdef"

// guidDash reports whether the character at i of a GUID is a dash (8-4-4-4-12).
func guidDash(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

func appendGUID(dst []byte, g *[16]byte) []byte {
	for i, b := range g {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// parseGUID parses 8-4-4-4-12 hexadecimal digits of either case.
func parseGUID(g *[16]byte, b []byte) bool {
	if len(b) != 36 {
		return false
	}
	n := 0
	for i := 0; i < 36; {
		if guidDash(i) {
			if b[i] != '-' {
				return false
			}
			i++
			continue
		}
		high, low := hexValue[b[i]], hexValue[b[i+1]]
		if high|low > 15 {
			return false
		}
		g[n] = high<<4 | low
		n++
		i += 2
	}
	return true
}
