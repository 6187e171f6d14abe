package main

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// annotation follows the name of a property in the name of the member with its type.
const annotation = "@odata.type"

// timeLayout is that of an Edm.DateTime, with up to seven digits of a second.
const timeLayout = "2006-01-02T15:04:05.9999999Z"

// appendRow appends a row as one JSON object, without a newline: the keys, then the properties in
// the order of their names, as the Table service writes them.
func appendRow(dst []byte, r *row) []byte {
	dst = append(dst, `{"PartitionKey":`...)
	dst = appendText(dst, r.key.Partition)
	dst = append(dst, `,"RowKey":`...)
	dst = appendText(dst, r.key.Row)
	for _, name := range slices.Sorted(maps.Keys(r.properties)) {
		dst = append(dst, ',')
		dst = appendProperty(dst, name, r.properties[name])
	}
	return append(dst, '}')
}

// appendProperty appends a member, after another one with the type if JSON does not show it.
func appendProperty(dst []byte, name string, value any) []byte {
	typ, text := "", ""
	switch v := value.(type) {
	case int64:
		typ, text = "Edm.Int64", strconv.FormatInt(v, 10)
	case float64:
		switch {
		case math.IsNaN(v):
			typ, text = "Edm.Double", "NaN"
		case math.IsInf(v, 0):
			typ, text = "Edm.Double", map[bool]string{true: "-Infinity", false: "Infinity"}[v < 0]
		}
	case time.Time:
		typ, text = "Edm.DateTime", v.UTC().Format(timeLayout)
	case [16]byte:
		typ, text = "Edm.Guid", guidText(v)
	case []byte:
		typ, text = "Edm.Binary", base64.StdEncoding.EncodeToString(v)
	}
	if typ != "" {
		dst = append(appendText(dst, name+annotation), `:"`...)
		dst = append(append(dst, typ...), `",`...)
		return appendText(append(appendText(dst, name), ':'), text)
	}
	dst = append(appendText(dst, name), ':')
	switch v := value.(type) {
	case string:
		dst = appendText(dst, v)
	case bool:
		dst = strconv.AppendBool(dst, v)
	case int32:
		dst = strconv.AppendInt(dst, int64(v), 10)
	case float64:
		dst = appendDouble(dst, v)
	}
	return dst
}

// appendDouble writes a point or an exponent always: without, the number would be an Edm.Int32.
func appendDouble(dst []byte, v float64) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	for _, c := range dst[from:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendText appends a JSON string. Characters that are no valid text become U+FFFD; a row has
// none.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	plain := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' && c != utf8.RuneError {
			continue
		}
		dst = append(dst, s[plain:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
			plain = i + 1
		case c == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, c)
			plain = i + size
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			plain = i + 1
		}
	}
	return append(append(dst, s[plain:]...), '"')
}
