package keys

import "time"

// TicksRange returns the range of the keys that begin with the Ticks of a time in
// [from, to], with or without text after the 19 digits. Both ends are inclusive;
// fractions of a tick, 100 ns, are dropped. It returns an *Error if to is before from,
// or if a year is outside 1 to 9999.
func TicksRange(from, to time.Time) (Range, error) {
	first, last, err := window("TicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(first), To: formatTicks(last + 1)}, nil
}

// InvertedTicksRange returns the range of the keys that begin with the InvertedTicks
// of a time in [from, to], with or without text after the 19 digits. The range begins
// at the newest time. Both ends are inclusive; fractions of a tick, 100 ns, are
// dropped. It returns an *Error if to is before from, or if a year is outside 1 to 9999.
//
// The range of [2026-01-01T00:00:00Z, 2026-01-01T00:00:01Z] is
// ["2516350751989999999", "2516350752000000000").
func InvertedTicksRange(from, to time.Time) (Range, error) {
	first, last, err := window("InvertedTicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(maxTicks - last), To: formatTicks(maxTicks - first + 1)}, nil
}

// window returns the ticks of both ends. maxTicks+1 still has 19 digits, so either end
// can be increased by one.
func window(part string, from, to time.Time) (first, last int64, err error) {
	if first, err = ticksOf(part, from); err != nil {
		return 0, 0, err
	}
	if last, err = ticksOf(part, to); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the end is before the beginning"}
	}
	return first, last, nil
}
