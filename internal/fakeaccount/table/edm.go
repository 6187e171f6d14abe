package table

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/reply"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// edm is a type of the entity data model.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
type edm uint8

const (
	edmString edm = iota
	edmInt32
	edmInt64
	edmDouble
	edmBoolean
	edmDateTime
	edmGUID
	edmBinary
)

var edmNames = [...]string{"Edm.String", "Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.Boolean", "Edm.DateTime", "Edm.Guid", "Edm.Binary"}

func edmOf(name string) (edm, bool) {
	for i, n := range edmNames {
		if n == name {
			return edm(i), true
		}
	}
	return 0, false
}

const (
	maxString  = 32 << 10 // UTF-16 code units
	maxBinary  = 64 << 10 // bytes
	timeLayout = "2006-01-02T15:04:05.9999999Z"
)

var minTime = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)

// property is one stored property. value is string, int32, int64, float64,
// bool, time.Time, []byte or [16]byte, as query filters compare them.
type property struct {
	name  string
	typ   edm
	value any
}

// valueOf returns the type and the value of m, which is not null. note is the type in its
// annotation, "" if it has none.
func valueOf(m request.Member, note string) (edm, any, *reply.Error) {
	if note == "" {
		return plainValue(m)
	}
	t, ok := edmOf(note)
	if !ok {
		return 0, nil, errInvalidInput
	}
	// A value of any type may be written as text, and some SDKs do so with every
	// annotated value.
	fits := m.Kind == request.StringValue
	switch t {
	case edmInt32, edmDouble:
		fits = fits || m.Kind == request.NumberValue
	case edmBoolean:
		fits = fits || m.Kind == request.BoolValue
	}
	if !fits {
		return 0, nil, errInvalidInput
	}
	v, err := parseValue(t, m)
	return t, v, err
}

func plainValue(m request.Member) (edm, any, *reply.Error) {
	t := edmString
	switch m.Kind {
	case request.BoolValue:
		t = edmBoolean
	case request.NumberValue:
		t = edmInt32
		if strings.ContainsAny(m.Text, ".eE") {
			t = edmDouble
		}
	}
	v, err := parseValue(t, m)
	return t, v, err
}

func parseValue(t edm, m request.Member) (any, *reply.Error) {
	switch t {
	case edmString:
		if request.UTF16Len(m.Text) > maxString {
			return nil, errValueTooLarge
		}
		return m.Text, nil
	case edmInt32:
		v, err := strconv.ParseInt(m.Text, 10, 32)
		switch {
		case err != nil && m.Kind == request.NumberValue:
			return nil, errInvalidInput
		case err != nil || m.Text[0] == '+':
			return nil, errValueType
		}
		return int32(v), nil
	case edmInt64:
		v, err := strconv.ParseInt(m.Text, 10, 64)
		if err != nil || m.Text[0] == '+' {
			return nil, errValueType
		}
		return v, nil
	case edmDouble:
		return parseDouble(m)
	case edmBoolean:
		if m.Text != "true" && m.Text != "false" {
			return nil, errValueType
		}
		return m.Text == "true", nil
	case edmDateTime:
		return parseTime(m.Text)
	case edmGUID:
		v, ok := parseGUID(m.Text)
		if !ok {
			return nil, errValueType
		}
		return v, nil
	default:
		v, err := base64.StdEncoding.Strict().DecodeString(m.Text)
		if err != nil || strings.ContainsAny(m.Text, "\r\n") {
			return nil, errValueType
		}
		if len(v) > maxBinary {
			return nil, errValueTooLarge
		}
		return v, nil
	}
}

func parseDouble(m request.Member) (any, *reply.Error) {
	switch m.Text {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	if !request.IsNumber(m.Text) { // package strconv accepts more forms than JSON
		return nil, errValueType
	}
	v, err := strconv.ParseFloat(m.Text, 64)
	if err != nil {
		return nil, errValueType
	}
	return v, nil
}

// parseTime parses a time in ISO 8601 in UTC, with at most seven decimals, in the years 1601
// to 9999.
func parseTime(s string) (any, *reply.Error) {
	if len(s) < len("2006-01-02T15:04Z") || s[13] != ':' || strings.Contains(s, ",") {
		return nil, errValueType // package time is more lenient than ISO 8601
	}
	if _, frac, ok := strings.Cut(s, "."); ok && len(frac) > len("1234567Z") {
		return nil, errValueType
	}
	for _, layout := range [...]string{timeLayout, "2006-01-02T15:04Z"} {
		if v, err := time.Parse(layout, s); err == nil {
			if v.Before(minTime) {
				return nil, errOutOfRange
			}
			return v.UTC(), nil
		}
	}
	return nil, errValueType
}

func parseGUID(s string) (v [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return v, false
	}
	var digits [32]byte
	n := copy(digits[:], s[:8])
	n += copy(digits[n:], s[9:13])
	n += copy(digits[n:], s[14:18])
	n += copy(digits[n:], s[19:23])
	copy(digits[n:], s[24:])
	_, err := hex.Decode(v[:], digits[:])
	return v, err == nil
}
