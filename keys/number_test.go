package keys_test

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func TestDigitsPadsToTheWidth(t *testing.T) {
	for _, c := range []struct {
		v     uint64
		width int
		want  string
	}{
		{123, 8, "00000123"}, {0, 1, "0"}, {9, 1, "9"}, {math.MaxUint64, 20, "18446744073709551615"}, {7, 25, strings.Repeat("0", 24) + "7"},
	} {
		got := assert.Must(keys.Digits(c.v, c.width))(t)
		assert.Equal(t, got, c.want)
		assert.Equal(t, assert.Must(keys.ParseDigits(c.want))(t), c.v)
	}
}

func TestDigitsRejectsInvalidNumbersAndTexts(t *testing.T) {
	for width, reason := range map[int]keys.Reason{3: keys.TooWide, 0: keys.BadDefinition, -1: keys.BadDefinition, 513: keys.BadDefinition} {
		_, err := keys.Digits(1234, width)
		mustFail(t, err, reason, "1234")
	}
	for s, reason := range map[string]keys.Reason{
		"": keys.Malformed, "+123": keys.UnexpectedRune, "-123": keys.UnexpectedRune, " 123": keys.UnexpectedRune, "12_3": keys.UnexpectedRune,
		"0x1F": keys.UnexpectedRune, "١٢٣": keys.UnexpectedRune, "12\xFF4": keys.UnexpectedRune,
		"18446744073709551616": keys.OutOfRange, strings.Repeat("0", 513): keys.Malformed,
	} {
		_, err := keys.ParseDigits(s)
		mustFail(t, err, reason, s)
	}
}

func TestDigitsPreserveOrderAndAreReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, width := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b"), rapid.IntRange(20, 512).Draw(t, "width")
		x, errX := keys.Digits(a, width)
		y, errY := keys.Digits(b, width)
		if errX != nil || errY != nil || keys.Compare(x, y) != cmp.Compare(a, b) || len(x) != width {
			t.Fatalf("%d, %d are formatted as %q, %q (%v, %v)", a, b, x, y, errX, errY)
		}
		assert.Equal(assert.Now(t), assert.Must(keys.ParseDigits(x))(t), a)
	})
}

var int64Vectors = []struct {
	v    int64
	text string
}{
	{math.MinInt64, "-0776627963145224192"},
	{-42, "-9999999999999999958"},
	{-1, "-9999999999999999999"},
	{0, "00000000000000000000"},
	{42, "00000000000000000042"},
	{math.MaxInt64, "09223372036854775807"},
}

func TestInt64Vectors(t *testing.T) {
	for i, c := range int64Vectors {
		assert.Equal(t, keys.Int64(c.v), c.text, "Int64", c.v)
		assert.Equal(t, assert.Must(keys.ParseInt64(c.text))(t), c.v, c.text)
		if i > 0 && keys.Compare(int64Vectors[i-1].text, c.text) >= 0 {
			t.Errorf("%q is out of order", c.text)
		}
	}
}

func TestParseInt64RejectsInvalidText(t *testing.T) {
	for s, reason := range map[string]keys.Reason{
		"": keys.Malformed, "0000000000000000042": keys.Malformed, "000000000000000000042": keys.Malformed,
		"+0000000000000000042": keys.UnexpectedRune, "0000000000000000004x": keys.UnexpectedRune, "--000000000000000042": keys.UnexpectedRune,
		"09223372036854775808": keys.OutOfRange, "18446744073709551615": keys.OutOfRange, "18446744073709551616": keys.OutOfRange,
		"-0776627963145224191": keys.OutOfRange, "-0000000000000000000": keys.OutOfRange,
	} {
		_, err := keys.ParseInt64(s)
		mustFail(t, err, reason, s)
	}
}

func TestInt64PreservesOrderAndIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		assert.Equal(assert.Now(t), keys.Compare(keys.Int64(a), keys.Int64(b)), cmp.Compare(a, b), a, b, "are formatted as", keys.Int64(a), keys.Int64(b))
		assert.Equal(assert.Now(t), assert.Must(keys.ParseInt64(keys.Int64(a)))(t), a)
	})
}

var float64Vectors = []struct {
	v    float64
	text string
}{
	{math.Inf(-1), "000fffffffffffff"},
	{-math.MaxFloat64, "0010000000000000"},
	{-1.5, "4007ffffffffffff"},
	{-math.SmallestNonzeroFloat64, "7ffffffffffffffe"},
	{0, "8000000000000000"},
	{math.SmallestNonzeroFloat64, "8000000000000001"},
	{1.5, "bff8000000000000"},
	{math.Inf(1), "fff0000000000000"},
}

func TestFloat64Vectors(t *testing.T) {
	for i, c := range float64Vectors {
		assert.Equal(t, assert.Must(keys.Float64(c.v))(t), c.text, c.text)
		assert.Equal(t, assert.Must(keys.ParseFloat64(c.text))(t), c.v, c.text)
		if i > 0 && keys.Compare(float64Vectors[i-1].text, c.text) >= 0 {
			t.Errorf("%q is out of order", c.text)
		}
	}
	minusZero, _ := keys.Float64(math.Copysign(0, -1))
	assert.Equal(t, minusZero, "8000000000000000", "minus zero is")
}

func TestFloat64RejectsNaNAndInvalidText(t *testing.T) {
	for _, bits := range []uint64{0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001} {
		_, err := keys.Float64(math.Float64frombits(bits))
		mustFail(t, err, keys.OutOfRange, "")
	}
	for s, reason := range map[string]keys.Reason{
		"": keys.Malformed, "800000000000000": keys.Malformed, "80000000000000000": keys.Malformed,
		"BFF8000000000000": keys.UnexpectedRune, "+000000000000000": keys.UnexpectedRune,
		"7fffffffffffffff": keys.OutOfRange, "fff8000000000000": keys.OutOfRange, "fff0000000000001": keys.OutOfRange,
		"000ffffffffffffe": keys.OutOfRange, "0000000000000000": keys.OutOfRange,
	} {
		_, err := keys.ParseFloat64(s)
		mustFail(t, err, reason, s)
	}
}

func TestFloat64PreservesOrderAndIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		x, errX := keys.Float64(a)
		y, errY := keys.Float64(b)
		if errX != nil || errY != nil || keys.Compare(x, y) != cmp.Compare(a, b) {
			t.Fatalf("%g, %g are formatted as %q, %q (%v, %v)", a, b, x, y, errX, errY)
		}
		assert.Equal(assert.Now(t), assert.Must(keys.ParseFloat64(x))(t), a)
	})
}

func TestUUID(t *testing.T) {
	u := [16]byte{0x8f, 0x3a, 0x2c, 0x10, 0, 1, 0x4e, 0x5f, 0x9a, 0x6b, 0x7c, 0x8d, 0x9e, 0x0f, 0x1a, 0x2b}
	const text = "8f3a2c10-0001-4e5f-9a6b-7c8d9e0f1a2b"
	assert.Equal(t, keys.UUID(u), text, "UUID =")
	assert.Equal(t, assert.Must(keys.ParseUUID(text))(t), u)
	for s, reason := range map[string]keys.Reason{
		"": keys.Malformed, text + "0": keys.Malformed, strings.ReplaceAll(text, "-", ""): keys.Malformed,
		strings.ToUpper(text): keys.UnexpectedRune, strings.Replace(text, "-", "0", 1): keys.UnexpectedRune,
		strings.Replace(text, "f3a2", "f-a2", 1): keys.UnexpectedRune, strings.Replace(text, "f3", "é", 1): keys.UnexpectedRune,
	} {
		_, err := keys.ParseUUID(s)
		mustFail(t, err, reason, s)
	}
}

// FuzzParse passes any text to every parser of a fixed format: if the parser accepts
// it, formatting the value returns the same text.
func FuzzParse(f *testing.F) {
	for _, c := range int64Vectors {
		f.Add(c.text)
	}
	for _, c := range float64Vectors {
		f.Add(c.text)
	}
	for _, c := range tickVectors {
		f.Add(c.ticks)
		f.Add(c.inverted)
	}
	f.Add("8f3a2c10-0001-4e5f-9a6b-7c8d9e0f1a2b")
	f.Fuzz(func(t *testing.T, s string) {
		same := func(name, got string, err error) {
			assert.NoError(t, err, name)
			assert.Equal(t, got, s, name)
		}
		if v, err := keys.ParseDigits(s); err == nil {
			got, err := keys.Digits(v, len(s))
			same("ParseDigits", got, err)
		}
		if v, err := keys.ParseInt64(s); err == nil {
			same("ParseInt64", keys.Int64(v), nil)
		}
		if v, err := keys.ParseFloat64(s); err == nil {
			got, err := keys.Float64(v)
			same("ParseFloat64", got, err)
		}
		if v, err := keys.ParseTicks(s); err == nil {
			got, err := keys.Ticks(v)
			same("ParseTicks", got, err)
		}
		if v, err := keys.ParseInvertedTicks(s); err == nil {
			got, err := keys.InvertedTicks(v)
			same("ParseInvertedTicks", got, err)
		}
		if v, err := keys.ParseUUID(s); err == nil {
			same("ParseUUID", keys.UUID(v), nil)
		}
	})
}
