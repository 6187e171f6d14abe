package keys

import "time"

const (
	// ticksPerSecond: a .NET tick is 100 ns.
	ticksPerSecond = 10_000_000
	// epochTicks is the number of ticks at 1970-01-01T00:00:00Z.
	epochTicks = 621_355_968_000_000_000
	// maxTicks is that of .NET's DateTime.MaxValue, 9999-12-31T23:59:59.9999999Z.
	maxTicks = 3_155_378_975_999_999_999
	// ticksWidth is the number of digits of maxTicks.
	ticksWidth = 19
	// minSecond and maxSecond are the limits of the years 1 to 9999 in Unix time.
	minSecond = -epochTicks / ticksPerSecond
	maxSecond = (maxTicks - epochTicks) / ticksPerSecond
)

// Ticks returns t as .NET ticks, the number of 100 ns intervals since
// 0001-01-01T00:00:00Z, in 19 digits, so that the oldest time sorts first:
// 2026-01-01T00:00:00Z is "0639028224000000000". Fractions of a tick are dropped. A
// year outside 1 to 9999 in UTC is an *Error.
func Ticks(t time.Time) (string, error) { return ticksText("Ticks", t, false) }

// ParseTicks is the inverse of Ticks. The time is in UTC. It returns an *Error for any
// other text.
func ParseTicks(s string) (time.Time, error) { return parseTicks("ParseTicks", s, false) }

// InvertedTicks returns .NET's DateTime.MaxValue.Ticks - t.Ticks in 19 digits, so that
// the newest time sorts first: 2026-01-01T00:00:00Z is "2516350751999999999".
// Fractions of a tick of t are dropped. A year outside 1 to 9999 in UTC is an *Error.
//
// Times of the same tick have the same text: append a part that is unique. See
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-tail-pattern.
func InvertedTicks(t time.Time) (string, error) { return ticksText("InvertedTicks", t, true) }

// ParseInvertedTicks is the inverse of InvertedTicks. The time is in UTC. It returns an
// *Error for any other text.
func ParseInvertedTicks(s string) (time.Time, error) {
	return parseTicks("ParseInvertedTicks", s, true)
}

func ticksText(part string, t time.Time, inverted bool) (string, error) {
	var buf [ticksWidth]byte
	dst, err := appendTime(buf[:0], part, t, inverted)
	return string(dst), err
}

func appendTime(dst []byte, part string, t time.Time, inverted bool) ([]byte, error) {
	n, err := ticksOf(part, t)
	if err != nil {
		return dst, err
	}
	if inverted {
		n = maxTicks - n
	}
	return appendTicks(dst, n), nil
}

// ticksOf returns the ticks of t. It does not use UnixNano, which is defined only for
// the years 1678 to 2262.
func ticksOf(part string, t time.Time) (int64, error) {
	s := t.Unix()
	if s < minSecond || s > maxSecond {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the year is outside 1 to 9999"}
	}
	return s*ticksPerSecond + int64(t.Nanosecond())/100 + epochTicks, nil
}

func formatTicks(n int64) string {
	var buf [ticksWidth]byte
	return string(appendTicks(buf[:0], n))
}

func appendTicks(dst []byte, n int64) []byte { return appendPadded(dst, uint64(n), ticksWidth) }

func parseTicks(part, s string, inverted bool) (time.Time, error) {
	v, err := parseFixed(part, s, ticksWidth)
	if err != nil {
		return time.Time{}, err
	}
	if v > maxTicks {
		return time.Time{}, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the time is after the year 9999"}
	}
	if inverted {
		v = maxTicks - v
	}
	n := int64(v) - epochTicks // before 1970 the remainder is negative, which time.Unix accepts
	return time.Unix(n/ticksPerSecond, n%ticksPerSecond*100).UTC(), nil
}
