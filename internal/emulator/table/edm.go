package table

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
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

// valueOf types the JSON value of m, annotated with the type named by note, or
// "" where there is no annotation. m is not null.
func valueOf(m member, note string) (edm, any, *rest.Error) {
	if note == "" {
		return plainValue(m)
	}
	t, ok := edmOf(note)
	if !ok {
		return 0, nil, errInvalidInput
	}
	// Every type may be written as text, and some SDKs write all that they
	// annotate so.
	fits := m.kind == kindString
	switch t {
	case edmInt32, edmDouble:
		fits = fits || m.kind == kindNumber
	case edmBoolean:
		fits = fits || m.kind == kindBool
	}
	if !fits {
		return 0, nil, errInvalidInput
	}
	v, err := parseValue(t, m)
	return t, v, err
}

func plainValue(m member) (edm, any, *rest.Error) {
	t := edmString
	switch m.kind {
	case kindBool:
		t = edmBoolean
	case kindNumber:
		t = edmInt32
		if strings.ContainsAny(m.text, ".eE") {
			t = edmDouble
		}
	}
	v, err := parseValue(t, m)
	return t, v, err
}

func parseValue(t edm, m member) (any, *rest.Error) {
	switch t {
	case edmString:
		if utf16Len(m.text) > maxString {
			return nil, errValueTooLarge
		}
		return m.text, nil
	case edmInt32:
		v, err := strconv.ParseInt(m.text, 10, 32)
		switch {
		case err != nil && m.kind == kindNumber:
			return nil, errInvalidInput
		case err != nil || m.text[0] == '+':
			return nil, errValueType
		}
		return int32(v), nil
	case edmInt64:
		v, err := strconv.ParseInt(m.text, 10, 64)
		if err != nil || m.text[0] == '+' {
			return nil, errValueType
		}
		return v, nil
	case edmDouble:
		return parseDouble(m)
	case edmBoolean:
		if m.text != "true" && m.text != "false" {
			return nil, errValueType
		}
		return m.text == "true", nil
	case edmDateTime:
		return parseTime(m.text)
	case edmGUID:
		v, ok := parseGUID(m.text)
		if !ok {
			return nil, errValueType
		}
		return v, nil
	default:
		v, err := base64.StdEncoding.Strict().DecodeString(m.text)
		if err != nil || strings.ContainsAny(m.text, "\r\n") {
			return nil, errValueType
		}
		if len(v) > maxBinary {
			return nil, errValueTooLarge
		}
		return v, nil
	}
}

func parseDouble(m member) (any, *rest.Error) {
	switch m.text {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	s := scanner{b: []byte(m.text)} // of the many forms of a number, those of JSON
	if _, ok := s.number(); !ok || s.i < len(s.b) {
		return nil, errValueType
	}
	v, err := strconv.ParseFloat(m.text, 64)
	if err != nil {
		return nil, errValueType
	}
	return v, nil
}

// parseTime takes ISO 8601 in UTC, at most seven digits of a second, from
// 1601 to 9999.
func parseTime(s string) (any, *rest.Error) {
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

// utf16Len is the length of s in UTF-16 code units, the service's measure.
func utf16Len(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
