package query

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/google/uuid"
)

type (
	level    int32
	label    string
	digest   [16]byte
	stamp    time.Time
	blob     []byte
	octet    byte
	octets   [16]octet
	approval bool
)

func TestLiteralOfEachGoType(t *testing.T) {
	id := uuid.MustParse("A455C695-DF98-5678-AAAA-81D3367E5A34")
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_299, time.FixedZone("", 3600))
	for _, tt := range []struct {
		value any
		want  string
	}{
		{"Sales", "'Sales'"},
		{"", "''"},
		{"O'Brien", "'O''Brien'"},
		{"'", "''''"},
		{label("x"), "'x'"},
		{json.Number("5"), "'5'"},
		{int8(-8), "-8"},
		{int16(16), "16"},
		{int32(math.MinInt32), "-2147483648"},
		{'a', "97"},
		{level(3), "3"},
		{uint8(255), "255"},
		{uint16(65535), "65535"},
		{30, "30L"},
		{int64(math.MinInt64), "-9223372036854775808L"},
		{time.Second, "1000000000L"},
		{uint(7), "7L"},
		{uint32(math.MaxUint32), "4294967295L"},
		{uint64(math.MaxInt64), "9223372036854775807L"},
		{3.0, "3.0"},
		{-0.5, "-0.5"},
		{math.Copysign(0, -1), "-0.0"},
		{float32(0.5), "0.5"},
		{1e20, "100000000000000000000.0"},
		{1e21, "1e21"},
		{1e-7, "0.0000001"},
		{5e-324, "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e308"},
		{true, "true"},
		{approval(false), "false"},
		{at, "datetime'2026-01-02T02:04:05.6789012Z'"},
		{stamp(at), "datetime'2026-01-02T02:04:05.6789012Z'"},
		{time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), "datetime'1601-01-01T00:00:00.0000000Z'"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), "datetime'9999-12-31T23:59:59.9999999Z'"},
		{[]byte{0, 0xab}, "X'00ab'"},
		{[]byte(nil), "X''"},
		{blob{1}, "X'01'"},
		{[]octet{2}, "X'02'"},
		{[16]byte(id), "guid'a455c695-df98-5678-aaaa-81d3367e5a34'"},
		{id, "guid'a455c695-df98-5678-aaaa-81d3367e5a34'"},
		{digest(id), "guid'a455c695-df98-5678-aaaa-81d3367e5a34'"},
		{octets{0xa4, 15: 0x34}, "guid'a4000000-0000-0000-0000-000000000034'"},
		{aztables.EDMInt64(5), "5L"},
		{aztables.EDMBinary{5}, "X'05'"},
		{aztables.EDMDateTime(at), "datetime'2026-01-02T02:04:05.6789012Z'"},
		{aztables.EDMGUID(id.String()), "guid'a455c695-df98-5678-aaaa-81d3367e5a34'"},
	} {
		f := Prop("X").Eq(tt.value)
		assert.Equal(assert.Now(t), f.Err(), nil, tt.value)
		assert.Equal(t, f.String(), "X eq "+tt.want, tt.value)
		if back, err := Parse(f.String()); err != nil || !back.Equal(f) {
			t.Errorf("%T: %q is parsed to %q, %v", tt.value, f, back, err)
		}
	}
}

func TestValuesWithoutALiteralAreRejected(t *testing.T) {
	s, secret := "x", "s3cr3t"
	for _, tt := range []struct {
		value  any
		reason string
	}{
		{nil, "null"},
		{&s, "pointer"},
		{(*string)(nil), "pointer"},
		{math.NaN(), "NaN"},
		{math.Inf(1), "NaN"},
		{float32(math.Inf(-1)), "NaN"},
		{uint64(math.MaxInt64) + 1, "larger than an Int64"},
		{time.Time{}, "1601"},
		{time.Date(1600, 12, 31, 23, 59, 59, 0, time.UTC), "1601"},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "1601"},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)), "1601"},
		{secret + "\xff", "UTF-8"},
		{[]string{secret}, "[]string has no literal"},
		{[]int32{1}, "has no literal"},
		{[15]byte{}, "has no literal"},
		{map[string]string{secret: secret}, "has no literal"},
		{struct{ A string }{secret}, "has no literal"},
		{complex(1, 1), "has no literal"},
		{make(chan int), "has no literal"},
		{func() {}, "has no literal"},
		{uintptr(1), "has no literal"},
		{Prop("Y"), "has no literal"},
		{aztables.EDMGUID(secret), "not a guid"},
	} {
		f := Prop("X").Eq(tt.value)
		err := f.Err()
		if err == nil || !strings.Contains(err.Error(), tt.reason) || !strings.Contains(err.Error(), `"X"`) {
			t.Errorf("%T: %v, want %q", tt.value, err, tt.reason)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%T: the error contains the value: %v", tt.value, err)
		}
	}
}
