package keys_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

var tickVectors = []struct {
	at, ticks, inverted string
}{
	{"0001-01-01T00:00:00Z", "0000000000000000000", "3155378975999999999"},
	{"0001-01-01T00:00:00.0000001Z", "0000000000000000001", "3155378975999999998"},
	{"1601-01-01T00:00:00Z", "0504911232000000000", "2650467743999999999"},
	{"1969-12-31T23:59:59.9999999Z", "0621355967999999999", "2534023008000000000"},
	{"1970-01-01T00:00:00Z", "0621355968000000000", "2534023007999999999"},
	{"2026-01-01T00:00:00Z", "0639028224000000000", "2516350751999999999"},
	{"9999-12-31T23:59:59.9999999Z", "3155378975999999999", "0000000000000000000"},
}

func instant(t assert.T, s string) time.Time {
	t.Helper()
	at := assert.Must(time.Parse(time.RFC3339Nano, s))(t)
	return at
}

func TestTicksEqualDotNetTicks(t *testing.T) {
	for _, c := range tickVectors {
		at := instant(t, c.at)
		assert.Equal(t, assert.Must(keys.Ticks(at))(t), c.ticks)
		assert.Equal(t, assert.Must(keys.InvertedTicks(at))(t), c.inverted)
		if got, err := keys.ParseTicks(c.ticks); err != nil || !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("ParseTicks(%s) = %v, %v", c.ticks, got, err)
		}
		if got, err := keys.ParseInvertedTicks(c.inverted); err != nil || !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("ParseInvertedTicks(%s) = %v, %v", c.inverted, got, err)
		}
	}
}

func TestTicksDropFractionsOfATick(t *testing.T) {
	for _, s := range []string{"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.9999999Z"} {
		assert.Equal(t, assert.Must(keys.Ticks(instant(t, s)))(t), "3155378975999999999")
	}
	assert.Equal(t, assert.Must(keys.Ticks(instant(t, "1969-12-31T23:59:59.999999999Z")))(t), "0621355967999999999")
}

func TestTicksDoNotDependOnTheZone(t *testing.T) {
	at := time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))
	assert.Equal(t, assert.Must(keys.Ticks(at))(t), "0639028224000000000")
	// The year can be out of range in a zone and in range in UTC.
	assert.Equal(t, assert.ErrorOf(keys.Ticks(instant(t, "9999-12-31T23:59:59Z").In(time.FixedZone("", 3600)))), nil)
	assert.Equal(t, assert.ErrorOf(keys.Ticks(instant(t, "0001-01-01T00:00:00Z").In(time.FixedZone("", -3600)))), nil)
}

func TestTicksRejectYearsOutOfRange(t *testing.T) {
	for _, at := range []time.Time{
		time.Date(0, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), time.Unix(1<<60, 0),
	} {
		_, err := keys.Ticks(at)
		mustFail(t, err, keys.OutOfRange, "")
		_, err = keys.InvertedTicks(at)
		mustFail(t, err, keys.OutOfRange, "")
		_, err = keys.TicksRange(at, time.Unix(0, 0))
		mustFail(t, err, keys.OutOfRange, "")
		_, err = keys.InvertedTicksRange(time.Unix(0, 0), at.Add(1)) // the beginning of the year 10000 is an end
		mustFail(t, err, keys.OutOfRange, "")
	}
	for s, reason := range map[string]keys.Reason{
		"": keys.Malformed, "639028224000000000": keys.Malformed, "06390282240000000000": keys.Malformed,
		"-639028224000000000": keys.UnexpectedRune, "3155378976000000000": keys.OutOfRange, "9999999999999999999": keys.OutOfRange,
	} {
		_, err := keys.ParseTicks(s)
		mustFail(t, err, reason, s)
		_, err = keys.ParseInvertedTicks(s)
		mustFail(t, err, reason, s)
	}
}

// anyTick draws an instant in .NET's range, to the nanosecond.
func anyTick() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		second := rapid.OneOf(rapid.Int64Range(-62135596800, 253402300799), rapid.Int64Range(-2, 2),
			rapid.SampledFrom([]int64{-62135596800, 253402300799, -9223372037, 9223372036})).Draw(t, "second")
		return time.Unix(second, rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()
	})
}

func TestTicksPreserveOrderAndAreReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyTick().Draw(t, "a").Truncate(100), anyTick().Draw(t, "b").Truncate(100)
		x, _ := keys.Ticks(a)
		y, _ := keys.Ticks(b)
		assert.Equal(assert.Now(t), len(x), 19)
		assert.Equal(assert.Now(t), keys.Compare(x, y), a.Compare(b))
		if back, err := keys.ParseTicks(x); err != nil || !back.Equal(a) {
			t.Fatalf("%v is parsed as %v, %v", a, back, err)
		}
		x, _ = keys.InvertedTicks(a)
		y, _ = keys.InvertedTicks(b)
		assert.Equal(assert.Now(t), len(x), 19)
		assert.Equal(assert.Now(t), keys.Compare(x, y), b.Compare(a))
		if back, err := keys.ParseInvertedTicks(x); err != nil || !back.Equal(a) {
			t.Fatalf("%v inverted is parsed as %v, %v", a, back, err)
		}
	})
}

func TestTicksRangesContainExactlyTheirTimesWithAnySuffix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := anyTick().Draw(t, "from"), anyTick().Draw(t, "to")
		if to.Before(from) {
			from, to = to, from
		}
		near := rapid.SampledFrom([]time.Time{from, to}).Draw(t, "end").Add(rapid.SampledFrom([]time.Duration{-100, 0, 100}).Draw(t, "step"))
		at := rapid.OneOf(anyTick(), rapid.Just(near)).Draw(t, "at")
		suffix := rapid.SampledFrom([]string{"", "_", "_8f3a", "~", "\uFFFF"}).Draw(t, "suffix")
		cut := at.Truncate(100)
		want := !cut.Before(from.Truncate(100)) && cut.Before(to.Truncate(100))

		for name, f := range map[string]struct {
			window func(from, to time.Time) (keys.Range, error)
			text   func(time.Time) (string, error)
		}{"ticks": {keys.TicksRange, keys.Ticks}, "inverted": {keys.InvertedTicksRange, keys.InvertedTicks}} {
			text, err := f.text(at)
			if err != nil { // before year 1 or after year 9999
				return
			}
			r, err := f.window(from, to)
			assert.NoError(t, err, name)
			assert.Equal(assert.Now(t), r.Contains(text+suffix), want, name)
		}
	})
}

func TestTicksRangeVectors(t *testing.T) {
	first, last := instant(t, "0001-01-01T00:00:00Z"), instant(t, "9999-12-31T23:59:59.9999999Z")
	end := last.Add(100)
	assert.Equal(t, assert.Must(keys.InvertedTicksRange(first, end))(t), keys.Range{From: "0000000000000000000", To: "3155378976000000000"})
	assert.Equal(t, assert.Must(keys.TicksRange(first, end))(t), keys.Range{From: "0000000000000000000", To: "3155378976000000000"})
	_, err := keys.TicksRange(last, first)
	mustFail(t, err, keys.OutOfRange, "")
	_, err = keys.InvertedTicksRange(last, first)
	mustFail(t, err, keys.OutOfRange, "")
}
