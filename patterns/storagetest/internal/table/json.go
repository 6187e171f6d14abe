package table

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
)

// appendValue appends the JSON form of a value.
func appendValue(b []byte, v filter.Value) []byte {
	switch v.Type {
	case filter.String:
		return appendString(b, v.Text)
	case filter.Int32:
		return strconv.AppendInt(b, v.Int, 10)
	case filter.Double:
		return appendDouble(b, v.Float)
	case filter.Boolean:
		return strconv.AppendBool(b, v.Int == 1)
	}
	b = append(b, '"')
	switch v.Type {
	case filter.Int64:
		b = strconv.AppendInt(b, v.Int, 10)
	case filter.DateTime:
		b = appendTime(b, v.Int)
	case filter.GUID:
		b = append(b, uuid.UUID([]byte(v.Text)).String()...)
	default:
		b = base64.StdEncoding.AppendEncode(b, []byte(v.Text))
	}
	return append(b, '"')
}

const timeLayout = "2006-01-02T15:04:05.9999999Z"

// appendTime appends a time in UTC, given in ticks, with as many decimals as it needs.
func appendTime(b []byte, ticks int64) []byte { return timeOf(ticks).AppendFormat(b, timeLayout) }

// appendEscaped appends a time that appendTime wrote, as an ETag contains it.
func appendEscaped(b, at []byte) []byte {
	const hour, minute = len("2006-01-02T15"), len("2006-01-02T15:04")
	b = append(append(b, at[:hour]...), "%3A"...)
	b = append(append(b, at[hour+1:minute]...), "%3A"...)
	return append(b, at[minute+1:]...)
}

func timeOf(ticks int64) time.Time {
	second, rest := ticks/1e7, ticks%1e7
	return time.Unix(second, rest*100).UTC()
}

func appendDouble(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	for _, c := range b[from:] {
		if c == '.' || c == 'e' {
			return b
		}
	}
	return append(b, ".0"...)
}

const hexDigits = "0123456789abcdef"

// appendString appends s, which is valid UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
