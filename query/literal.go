package query

import (
	"encoding/hex"
	"math"
	"reflect"
	"time"
	"unicode/utf8"
)

// literal is one typed constant. Two literals are the same constant if and only if they
// are ==, except 0.0 and -0.0 of Double, which are different literals of equal values.
type literal struct {
	typ  Type
	num  uint64 // Int32, Int64, Bool: the value; Double: its bits; DateTime: .NET ticks
	text string // String, Binary: the content; GUID: its 16 bytes
}

func stringLiteral(s string) literal { return literal{typ: String, text: s} }

func boolLiteral(b bool) literal {
	l := literal{typ: Bool}
	if b {
		l.num = 1
	}
	return l
}

func intLiteral(t Type, v int64) literal { return literal{typ: t, num: uint64(v)} }

func (l literal) int() int64     { return int64(l.num) }
func (l literal) float() float64 { return math.Float64frombits(l.num) }

var timeType = reflect.TypeFor[time.Time]()

// literalOf returns the literal for a Go value, or the reason why it has none. The
// reason does not contain the value.
func literalOf(v any) (literal, string) {
	switch v := v.(type) {
	case nil:
		return literal{}, "null cannot be compared; a missing property never matches"
	case string:
		return checkedString(v)
	case time.Time:
		return dateTimeLiteral(v)
	}
	return literalByKind(reflect.ValueOf(v))
}

func literalByKind(v reflect.Value) (literal, string) {
	t := v.Type()
	switch t.Kind() {
	case reflect.String:
		if isSDKGUID(t) {
			return guidLiteral(v.String())
		}
		return checkedString(v.String())
	case reflect.Bool:
		return boolLiteral(v.Bool()), ""
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return intLiteral(Int32, v.Int()), ""
	case reflect.Uint8, reflect.Uint16:
		return intLiteral(Int32, int64(v.Uint())), ""
	case reflect.Int, reflect.Int64:
		return intLiteral(Int64, v.Int()), ""
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return literal{}, "the number is larger than an Int64"
		}
		return intLiteral(Int64, int64(v.Uint())), ""
	case reflect.Float32, reflect.Float64:
		return doubleLiteral(v.Float())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return literal{typ: Binary, text: string(v.Bytes())}, ""
		}
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Len() == 16 {
			var b [16]byte
			for i := range b {
				b[i] = byte(v.Index(i).Uint())
			}
			return literal{typ: GUID, text: string(b[:])}, ""
		}
	case reflect.Struct:
		if t.ConvertibleTo(timeType) {
			return dateTimeLiteral(v.Convert(timeType).Interface().(time.Time))
		}
	case reflect.Pointer:
		return literal{}, "a pointer cannot be compared; pass the value it points to"
	}
	return literal{}, "the Go type " + t.String() + " has no literal"
}

// isSDKGUID reports whether t is aztables.EDMGUID, a string type whose values are Guids.
// It compares names, so that this package does not import the SDK.
func isSDKGUID(t reflect.Type) bool {
	return t.Name() == "EDMGUID" && t.PkgPath() == "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
}

func checkedString(s string) (literal, string) {
	if !utf8.ValidString(s) {
		return literal{}, "the text is not valid UTF-8"
	}
	return stringLiteral(s), ""
}

func doubleLiteral(v float64) (literal, string) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return literal{}, "NaN and infinity have no literal in a filter"
	}
	return literal{typ: Double, num: math.Float64bits(v)}, ""
}

// epochTicks is 1970-01-01 in .NET ticks: 100 ns since the year 1.
const (
	ticksPerSecond = 10_000_000
	epochTicks     = 621355968000000000
)

func dateTimeLiteral(t time.Time) (literal, string) {
	t = t.UTC()
	if y := t.Year(); y < 1601 || y > 9999 {
		return literal{}, "the time is outside the years 1601 to 9999"
	}
	return literal{typ: DateTime, num: uint64(ticksOf(t))}, ""
}

// ticksOf truncates to 100 ns, as a write of the same time does.
func ticksOf(t time.Time) int64 {
	return t.Unix()*ticksPerSecond + int64(t.Nanosecond())/100 + epochTicks
}

func timeOf(ticks int64) time.Time {
	ticks -= epochTicks
	sec := ticks / ticksPerSecond
	rem := ticks % ticksPerSecond
	if rem < 0 {
		sec, rem = sec-1, rem+ticksPerSecond
	}
	return time.Unix(sec, rem*100).UTC()
}

func guidLiteral(s string) (literal, string) {
	const bad = "not a guid of the form 8-4-4-4-12"
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return literal{}, bad
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	b, err := hex.DecodeString(digits)
	if err != nil {
		return literal{}, bad
	}
	return literal{typ: GUID, text: string(b)}, ""
}
