package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

const (
	// annotation follows the name of a property in the name of the member with its type.
	annotation = "@odata.type"
	// timeLayout is that of an Edm.DateTime, with up to seven digits of a second.
	timeLayout = "2006-01-02T15:04:05.9999999Z"
)

// appendRow appends a row as one JSON object, without a newline: the keys, then the properties in
// the order of their names, as the Table service writes them.
func appendRow(dst []byte, r *row) []byte {
	dst = appendText(append(dst, `{"PartitionKey":`...), r.key.Partition)
	dst = appendText(append(dst, `,"RowKey":`...), r.key.Row)
	for _, name := range slices.Sorted(maps.Keys(r.properties)) {
		typ, value := jsonOf(r.properties[name])
		if typ != "" {
			dst = append(appendText(append(dst, ','), name+annotation), `:"`+typ+`"`...)
		}
		dst = append(appendText(append(dst, ','), name), ':')
		dst = append(dst, value...)
	}
	return append(dst, '}')
}

// jsonOf returns the JSON of a value, and its type if that is not obvious from the JSON.
func jsonOf(value any) (typ string, text []byte) {
	switch v := value.(type) {
	case string:
		return "", appendText(nil, v)
	case bool:
		return "", strconv.AppendBool(nil, v)
	case int32:
		return "", strconv.AppendInt(nil, int64(v), 10)
	case int64:
		return "Edm.Int64", appendText(nil, strconv.FormatInt(v, 10))
	case time.Time:
		return "Edm.DateTime", appendText(nil, v.UTC().Format(timeLayout))
	case [16]byte:
		return "Edm.Guid", appendText(nil, guidText(v))
	case []byte:
		return "Edm.Binary", appendText(nil, base64.StdEncoding.EncodeToString(v))
	case float64:
		switch {
		case math.IsNaN(v):
			return "Edm.Double", []byte(`"NaN"`)
		case math.IsInf(v, 1):
			return "Edm.Double", []byte(`"Infinity"`)
		case math.IsInf(v, -1):
			return "Edm.Double", []byte(`"-Infinity"`)
		}
		if text = strconv.AppendFloat(nil, v, 'g', -1, 64); !bytes.ContainsAny(text, ".e") {
			text = append(text, ".0"...) // otherwise it would be an Edm.Int32
		}
	}
	return "", text
}

// appendText appends a JSON string.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			text, _ := json.Marshal(s) // of a string, which cannot fail
			return append(dst, text...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

func keyText(k keys.Key) string {
	return string(appendText(append(appendText(nil, k.Partition), ' '), k.Row))
}

// guidText returns the text of an Edm.Guid.
func guidText(g [16]byte) string {
	h := hex.EncodeToString(g[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
