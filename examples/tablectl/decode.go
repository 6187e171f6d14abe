package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// parseRow reads a line that appendRow, or the Table service, has written. Timestamp and members
// that begin with "odata." are ignored, and so is azp_stamp, which identifies writes to the row that
// was read. A property that is null does not exist. The errors contain no values.
func parseRow(line []byte) (row, error) {
	if !utf8.Valid(line) || !pairedSurrogates(line) {
		return row{}, errors.New("not valid Unicode")
	}
	values, types := map[string]any{}, map[string]string{}
	if err := parseObject(line, values, types); err != nil {
		return row{}, err
	}
	var r row
	for _, k := range []struct {
		name string
		part *string
	}{{"PartitionKey", &r.key.Partition}, {"RowKey", &r.key.Row}} {
		var ok bool
		if *k.part, ok = values[k.name].(string); !ok {
			return row{}, fmt.Errorf("%s is missing or not a text", k.name)
		}
		delete(values, k.name)
	}
	for name, value := range values {
		if name == "Timestamp" || name == "azp_stamp" || value == nil || strings.HasPrefix(name, "odata.") {
			delete(values, name)
			continue
		}
		typed, ok := valueOf(types[name], value)
		if !ok {
			return row{}, fmt.Errorf("property %s: not a value of %s", name, typeName(types[name]))
		}
		values[name] = typed
	}
	r.properties = values
	return r, nil
}

func typeName(annotated string) string {
	if annotated == "" {
		return "an Edm.String, Edm.Boolean, Edm.Int32 or Edm.Double, and its type is not annotated"
	}
	return annotated
}

// parseObject reads the members of one JSON object, and the types of those that are annotated.
func parseObject(line []byte, values map[string]any, types map[string]string) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errors.New("not JSON")
		}
		value, err := d.Token()
		if err != nil {
			return errors.New("not JSON")
		}
		if _, ok := value.(json.Delim); ok {
			return fmt.Errorf("property %s: nested JSON", name)
		}
		text := name.(string)
		base, isType := strings.CutSuffix(text, annotation)
		if isType {
			var ok bool
			if types[base], ok = value.(string); !ok {
				return fmt.Errorf("property %s: its type is not a text", base)
			}
			continue
		}
		if _, ok := values[text]; ok {
			return fmt.Errorf("property %s: twice", text)
		}
		values[text] = value
	}
	if _, err := d.Token(); err != nil {
		return errors.New("not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// valueOf returns the Go value of a property: value is a string, a bool or a json.Number.
func valueOf(typ string, value any) (any, bool) {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if isNumber {
		text = number.String()
	}
	if typ == "" {
		switch {
		case isText:
			return text, true
		case !isNumber:
			return value, true // a bool
		case strings.ContainsAny(text, ".eE"):
			typ = "Edm.Double"
		default:
			typ = "Edm.Int32"
		}
	}
	if typ == "Edm.Boolean" {
		b, ok := value.(bool)
		return b, ok
	}
	if !isText && !isNumber {
		return nil, false
	}
	switch typ {
	case "Edm.Int32":
		v, err := strconv.ParseInt(text, 10, 32)
		return int32(v), err == nil
	case "Edm.Int64":
		v, err := strconv.ParseInt(text, 10, 64)
		return v, err == nil
	case "Edm.Double":
		return doubleOf(text)
	}
	if !isText {
		return nil, false
	}
	switch typ {
	case "Edm.String":
		return text, true
	case "Edm.DateTime":
		t, err := time.Parse(time.RFC3339Nano, text)
		return t.UTC(), err == nil && t.Nanosecond()%100 == 0
	case "Edm.Binary":
		b, err := base64.StdEncoding.Strict().DecodeString(text)
		return b, err == nil
	case "Edm.Guid":
		var g [16]byte
		if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return nil, false
		}
		_, err := hex.Decode(g[:], []byte(strings.ReplaceAll(text, "-", "")))
		return g, err == nil && guidText(g) == strings.ToLower(text)
	}
	return nil, false
}

func doubleOf(text string) (any, bool) {
	switch text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// pairedSurrogates reports whether all escaped surrogates of the JSON text are pairs: package json
// would replace others.
func pairedSurrogates(line []byte) bool {
	for {
		at := bytes.IndexByte(line, '\\')
		if at < 0 || at+1 >= len(line) {
			return true
		}
		unit, ok := escapedUnit(line[at:])
		if line = line[at+2:]; !ok || !utf16.IsSurrogate(unit) {
			continue
		}
		line = line[4:]
		second, ok := escapedUnit(line)
		if !ok || utf16.DecodeRune(unit, second) == utf8.RuneError {
			return false
		}
		line = line[6:]
	}
}

// escapedUnit returns the UTF-16 unit with whose escape text begins.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(v), err == nil
}
