package keys

import "time"

// TicksRange returns the range of the keys that begin with the Ticks of a time in
// [from, to), with or without text after the 19 digits. The end is exclusive: adjacent
// ranges share no time and leave none out. Fractions of a tick, 100 ns, are dropped from
// both ends. The range is empty if both are equal. TicksRange returns an *Error if to is
// before from, or if a year is outside 1 to 9999; to may be the beginning of the year 10000.
func TicksRange(from, to time.Time) (Range, error) {
	first, end, err := window("TicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(first), To: formatTicks(end)}, nil
}

// InvertedTicksRange returns the range of the keys that begin with the InvertedTicks
// of a time in [from, to), with or without text after the 19 digits. The range begins
// at the newest time. Otherwise it is like [TicksRange].
//
// The range of [2026-01-01T00:00:00Z, 2026-01-01T00:00:01Z) is
// ["2516350751990000000", "2516350752000000000").
func InvertedTicksRange(from, to time.Time) (Range, error) {
	first, end, err := window("InvertedTicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(maxTicks - end + 1), To: formatTicks(maxTicks - first + 1)}, nil
}

// endOfTime is the first time that no key can contain.
var endOfTime = time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)

// window returns the ticks of both ends. maxTicks+1 still has 19 digits.
func window(part string, from, to time.Time) (first, end int64, err error) {
	if first, err = ticksOf(part, from); err != nil {
		return 0, 0, err
	}
	if end = maxTicks + 1; !to.Equal(endOfTime) {
		if end, err = ticksOf(part, to); err != nil {
			return 0, 0, err
		}
	}
	if end < first {
		return 0, 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the end is before the beginning"}
	}
	return first, end, nil
}
