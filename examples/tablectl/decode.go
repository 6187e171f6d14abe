package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

var (
	errJSON = errors.New("not one JSON object")
	errType = errors.New("not a value of its type")

	// paired matches JSON text in which all escaped surrogates are pairs. Package json would replace
	// others.
	paired = regexp.MustCompile(`^([^\\]|\\[^u]|\\u[^dD]|\\u[dD][0-7]|\\u[dD][89abAB]..\\u[dD][c-fC-F])*$`)
)

// parseRow reads a line that appendRow, or the Table service, has written. Timestamp and members
// that begin with "odata." are ignored, and so is azp_stamp, which identifies writes to the row that
// was read. A property that is null does not exist. The errors contain no values.
func parseRow(line []byte) (r row, err error) {
	if !utf8.Valid(line) || bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) && !paired.Match(line) {
		return r, errors.New("not valid Unicode")
	}
	values, types, err := parseObject(line)
	if err != nil {
		return r, err
	}
	partition, ok1 := values["PartitionKey"].(string)
	rowKey, ok2 := values["RowKey"].(string)
	if !ok1 || !ok2 {
		return r, errors.New("PartitionKey or RowKey is missing or not a text")
	}
	for _, name := range []string{"PartitionKey", "RowKey", "Timestamp", "azp_stamp"} {
		delete(values, name)
	}
	for name, value := range values {
		if value == nil || strings.HasPrefix(name, "odata.") {
			delete(values, name)
		} else if values[name], err = valueOf(types[name], value); err != nil {
			return r, fmt.Errorf("property %s: %w", name, err)
		}
	}
	return row{keys.Key{Partition: partition, Row: rowKey}, values}, nil
}

// parseObject reads the members of one JSON object, and the types of those that are annotated.
func parseObject(line []byte) (values properties, types map[string]string, err error) {
	values, types = properties{}, map[string]string{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, _ := d.Token(); t != json.Delim('{') {
		return nil, nil, errJSON
	}
	for d.More() {
		name, err1 := d.Token()
		value, err2 := d.Token()
		if err1 != nil || err2 != nil {
			return nil, nil, errJSON
		}
		text := name.(string)
		if _, nested := value.(json.Delim); nested {
			return nil, nil, fmt.Errorf("property %s: nested JSON", text)
		}
		if _, ok := values[text]; ok {
			return nil, nil, fmt.Errorf("property %s: twice", text)
		}
		if base, ok := strings.CutSuffix(text, annotation); ok {
			types[base] = fmt.Sprint(value)
		} else {
			values[text] = value
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, errJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, errJSON
	}
	return values, types, nil
}

// parsers return the Go value of each type, from its text.
var parsers = map[string]func(text string) (any, error){
	"Edm.String":  func(text string) (any, error) { return text, nil },
	"Edm.Boolean": func(text string) (any, error) { return strconv.ParseBool(text) },
	"Edm.Int64":   func(text string) (any, error) { return strconv.ParseInt(text, 10, 64) },
	"Edm.Double":  func(text string) (any, error) { return strconv.ParseFloat(text, 64) },
	"Edm.Binary":  func(text string) (any, error) { return base64.StdEncoding.Strict().DecodeString(text) },
	"Edm.Int32": func(text string) (any, error) {
		v, err := strconv.ParseInt(text, 10, 32)
		return int32(v), err
	},
	"Edm.DateTime": func(text string) (any, error) {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && t.Nanosecond()%100 != 0 {
			err = errType
		}
		return t.UTC(), err
	},
	"Edm.Guid": func(text string) (any, error) {
		var g [16]byte
		b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		copy(g[:], b)
		if err == nil && guidText(g) != strings.ToLower(text) {
			err = errType
		}
		return g, err
	},
}

// valueOf returns the Go value of a property: value is a string, a bool or a json.Number. A type that is
// not annotated follows from the JSON. A text may have any type except Edm.Boolean, a number any numeric one.
func valueOf(typ string, value any) (any, error) {
	text, natural := fmt.Sprint(value), "Edm.String"
	switch value.(type) {
	case bool:
		natural = "Edm.Boolean"
	case json.Number:
		if natural = "Edm.Int32"; strings.ContainsAny(text, ".eE") {
			natural = "Edm.Double"
		}
	}
	typ = cmp.Or(typ, natural)
	permitted := typ == natural || natural == "Edm.String" && typ != "Edm.Boolean" ||
		natural == "Edm.Int32" && (typ == "Edm.Int64" || typ == "Edm.Double")
	if parse := parsers[typ]; permitted && parse != nil {
		if v, err := parse(text); err == nil {
			return v, nil
		}
	}
	return nil, errType
}
