package keys

import "time"

const (
	// ticksPerSecond: a .NET tick is 100 ns.
	ticksPerSecond = 10_000_000
	// epochTicks are the ticks of 1970-01-01T00:00:00Z.
	epochTicks = 621_355_968_000_000_000
	// maxTicks are those of .NET's DateTime.MaxValue, 9999-12-31T23:59:59.9999999Z.
	maxTicks = 3_155_378_975_999_999_999
	// ticksWidth holds every count of ticks; it is that of maxTicks.
	ticksWidth = 19
	// minSecond and maxSecond bound the years 1 to 9999 in Unix time.
	minSecond = -epochTicks / ticksPerSecond
	maxSecond = (maxTicks - epochTicks) / ticksPerSecond
)

// Ticks writes t as .NET ticks, the count of 100 ns since 0001-01-01T00:00:00Z,
// in 19 digits, oldest first: 2026-01-01T00:00:00Z is "0639028224000000000". A
// fraction of a tick is cut off. A year outside 1 to 9999 in UTC is an *Error.
func Ticks(t time.Time) (string, error) {
	n, err := ticksOf("Ticks", t)
	if err != nil {
		return "", err
	}
	return formatTicks(n), nil
}

// ParseTicks reads back what Ticks wrote, as a time in UTC.
func ParseTicks(s string) (time.Time, error) {
	n, err := parseTicks("ParseTicks", s)
	if err != nil {
		return time.Time{}, err
	}
	return timeOf(n), nil
}

// InvertedTicks writes t so that the newest comes first: .NET's
// DateTime.MaxValue.Ticks - t.Ticks in 19 digits. 2026-01-01T00:00:00Z is
// "2516350751999999999". A fraction of a tick is cut off before. A year outside 1
// to 9999 in UTC is an *Error.
//
// Two entities of one tick collide: add a unique part behind it. See
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-tail-pattern.
func InvertedTicks(t time.Time) (string, error) {
	n, err := ticksOf("InvertedTicks", t)
	if err != nil {
		return "", err
	}
	return formatTicks(maxTicks - n), nil
}

// ParseInvertedTicks reads back what InvertedTicks wrote, as a time in UTC.
func ParseInvertedTicks(s string) (time.Time, error) {
	n, err := parseTicks("ParseInvertedTicks", s)
	if err != nil {
		return time.Time{}, err
	}
	return timeOf(maxTicks - n), nil
}

// ticksOf counts the ticks of t. It does not use UnixNano, which is defined for
// the years 1678 to 2262 only.
func ticksOf(part string, t time.Time) (int64, error) {
	s := t.Unix()
	if s < minSecond || s > maxSecond {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the year is outside 1 to 9999"}
	}
	return s*ticksPerSecond + int64(t.Nanosecond())/100 + epochTicks, nil
}

// timeOf reverses ticksOf. Before 1970 the remainder is negative, which time.Unix
// takes.
func timeOf(ticks int64) time.Time {
	ticks -= epochTicks
	return time.Unix(ticks/ticksPerSecond, ticks%ticksPerSecond*100).UTC()
}

func formatTicks(n int64) string {
	var buf [ticksWidth]byte
	return string(appendTicks(buf[:0], n))
}

func appendTicks(dst []byte, n int64) []byte {
	at := len(dst)
	dst = append(dst, "0000000000000000000"...)
	for i := len(dst) - 1; i >= at; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

func parseTicks(part, s string) (int64, error) {
	v, err := parseFixed(part, s, ticksWidth)
	if err != nil {
		return 0, err
	}
	if v > maxTicks {
		return 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "later than the year 9999"}
	}
	return int64(v), nil
}
