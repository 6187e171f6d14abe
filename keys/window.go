package keys

import "time"

// TicksRange gives the range of the keys that begin with Ticks of a time from
// from to to, both included, with or without more text behind the 19 digits.
// Both ends are cut to the tick, 100 ns. A to before from, or a year outside 1 to
// 9999, is an *Error.
func TicksRange(from, to time.Time) (Range, error) {
	first, last, err := window("TicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(first), To: formatTicks(last + 1)}, nil
}

// InvertedTicksRange gives the range of the keys that begin with InvertedTicks of
// a time from from to to, both included, with or without more text behind the 19
// digits. The ends swap: the range starts at the newest. Both are cut to the
// tick, 100 ns. A to before from, or a year outside 1 to 9999, is an *Error.
//
// The window from 2026-01-01T00:00:00Z to 2026-01-01T00:00:01Z is the range
// ["2516350751989999999", "2516350752000000000").
func InvertedTicksRange(from, to time.Time) (Range, error) {
	first, last, err := window("InvertedTicksRange", from, to)
	if err != nil {
		return Range{}, err
	}
	return Range{From: formatTicks(maxTicks - last), To: formatTicks(maxTicks - first + 1)}, nil
}

// window counts the ticks of both ends. One more than maxTicks still has 19
// digits, so either end may be raised by one.
func window(part string, from, to time.Time) (first, last int64, err error) {
	if first, err = ticksOf(part, from); err != nil {
		return 0, 0, err
	}
	if last, err = ticksOf(part, to); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, &Error{Part: part, Reason: OutOfRange, Offset: -1, Detail: "the window ends before it begins"}
	}
	return first, last, nil
}
