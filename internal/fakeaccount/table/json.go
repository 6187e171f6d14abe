package table

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

// appendValue appends the JSON form of p's value.
func (p *property) appendValue(b []byte) []byte {
	switch v := p.value.(type) {
	case string:
		return appendString(b, v)
	case int32:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		b = append(b, '"')
		b = strconv.AppendInt(b, v, 10)
		return append(b, '"')
	case float64:
		return appendDouble(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case time.Time:
		b = append(b, '"')
		b = v.AppendFormat(b, timeLayout)
		return append(b, '"')
	case [16]byte:
		b = append(b, '"')
		b = appendGUID(b, v)
		return append(b, '"')
	default:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.([]byte))
		return append(b, '"')
	}
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

func appendGUID(b []byte, v [16]byte) []byte {
	b = hex.AppendEncode(b, v[:4])
	for _, part := range [...][]byte{v[4:6], v[6:8], v[8:10], v[10:]} {
		b = append(b, '-')
		b = hex.AppendEncode(b, part)
	}
	return b
}

// annotated reports whether a reply of this level contains the type of p.
func (p *property) annotated(l level) bool {
	switch p.typ {
	case edmInt64, edmDateTime, edmGUID, edmBinary:
		return l != noMetadata
	case edmDouble:
		f := p.value.(float64)
		return l != noMetadata && (math.IsNaN(f) || math.IsInf(f, 0))
	}
	return false
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
