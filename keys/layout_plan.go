package keys

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// form is the format of a field.
type form uint8

const (
	escaped form = iota
	folded
	digits
	signed
	float
	boolean
	ticks
	invertedTicks
	uuidBytes
	uuidText
)

// field describes how one struct field is formatted and parsed.
type field struct {
	index int
	part  string // "field Year", for errors
	form  form
	width int          // digits only
	kind  reflect.Kind // of the Go type
}

var timeType = reflect.TypeFor[time.Time]()

// plan returns the key fields of struct type t.
func plan(t reflect.Type) ([]field, error) {
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, badLayout("Layout", "the key type "+t.String()+" is not a struct of key parts")
	}
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("key")
		if tag == "-" {
			continue
		}
		part := "field " + sf.Name
		if !sf.IsExported() {
			return nil, badLayout(part, "the field is not exported; the tag key:\"-\" excludes it")
		}
		if _, options, _ := strings.Cut(sf.Tag.Get("table"), ","); strings.Contains(","+options+",", ",encrypted,") {
			return nil, badLayout(part, "the field is encrypted, and a key would reveal it; Blind makes a key part of its value")
		}
		f, err := planField(part, sf.Type, tag)
		if err != nil {
			return nil, err
		}
		f.index = i
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, badLayout("Layout", "the key type "+t.String()+" has no field for the key")
	}
	return fields, nil
}

func planField(part string, t reflect.Type, tag string) (field, error) {
	f := field{part: part, kind: t.Kind()}
	wrong := func(want string) (field, error) {
		return field{}, badLayout(part, "tag "+strconv.Quote(tag)+" requires "+want+", not "+t.String())
	}
	name, value, hasValue := strings.Cut(tag, "=")
	if hasValue && name != "digits" {
		return field{}, badLayout(part, "unknown tag "+strconv.Quote(tag))
	}
	switch name {
	case "":
		return planUntagged(f, t)
	case "digits":
		if !isSigned(f.kind) && !isUnsigned(f.kind) {
			return wrong("an integer")
		}
		width, err := strconv.Atoi(value)
		if err != nil || checkWidth(part, width) != nil || value != strconv.Itoa(width) {
			return field{}, badLayout(part, "tag "+strconv.Quote(tag)+" requires a width of 1 to "+strconv.Itoa(MaxUnits))
		}
		f.form, f.width = digits, width
	case "ticks", "invticks":
		if t != timeType {
			return wrong("a time.Time")
		}
		f.form = ticks
		if name == "invticks" {
			f.form = invertedTicks
		}
	case "fold":
		if f.kind != reflect.String {
			return wrong("a string")
		}
		f.form = folded
	case "uuid":
		switch {
		case isUUID(t):
			f.form = uuidBytes
		case f.kind == reflect.String:
			f.form = uuidText
		default:
			return wrong("a [16]byte or a string")
		}
	default:
		return field{}, badLayout(part, "unknown tag "+strconv.Quote(tag))
	}
	return f, nil
}

func planUntagged(f field, t reflect.Type) (field, error) {
	switch {
	case f.kind == reflect.String:
		f.form = escaped
	case isSigned(f.kind):
		f.form = signed
	case isUnsigned(f.kind):
		f.form, f.width = digits, 20
	case f.kind == reflect.Float64, f.kind == reflect.Float32:
		f.form = float
	case f.kind == reflect.Bool:
		f.form = boolean
	case isUUID(t):
		f.form = uuidBytes
	case t == timeType:
		return field{}, badLayout(f.part, "a time.Time requires the tag ticks or invticks")
	default:
		return field{}, badLayout(f.part, "type "+t.String()+" cannot be part of a key")
	}
	return f, nil
}

func isSigned(k reflect.Kind) bool   { return k >= reflect.Int && k <= reflect.Int64 }
func isUnsigned(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uint64 }

func isUUID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

func badLayout(part, detail string) *Error {
	return &Error{Part: part, Reason: BadDefinition, Offset: -1, Detail: detail}
}
