package table

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

const (
	maxString = 32 << 10 // UTF-16 code units
	maxBinary = 64 << 10 // bytes
)

var minTime = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)

// valueOf returns the value of m, which is not null. note is the type in its annotation, ""
// if it has none.
func valueOf(m request.Member, note string) (filter.Value, *reply.Error) {
	if note == "" {
		return plainValue(m)
	}
	t, ok := filter.TypeOf(note)
	if !ok {
		return filter.Value{}, errInvalidInput.Because(m.Name + ": " + strconv.Quote(note) + " is not the name of a type")
	}
	// A value of any type may be written as text, and some SDKs do so with every
	// annotated value.
	fits := m.Kind == request.StringValue
	switch t {
	case filter.Int32, filter.Double:
		fits = fits || m.Kind == request.NumberValue
	case filter.Boolean:
		fits = fits || m.Kind == request.BoolValue
	}
	if !fits {
		return filter.Value{}, errInvalidInput.Because(m.Name + ": the JSON value does not fit the type " + note)
	}
	return parseValue(t, m)
}

func plainValue(m request.Member) (filter.Value, *reply.Error) {
	t := filter.String
	switch m.Kind {
	case request.BoolValue:
		t = filter.Boolean
	case request.NumberValue:
		t = filter.Int32
		if strings.ContainsAny(m.Text, ".eE") {
			t = filter.Double
		}
	}
	return parseValue(t, m)
}

func parseValue(t filter.Type, m request.Member) (filter.Value, *reply.Error) {
	v := filter.Value{Type: t}
	switch t {
	case filter.String:
		if v.Text = m.Text; request.UTF16Len(m.Text) > maxString {
			return v, errValueTooLarge.Because(m.Name + ": a text has at most 32,768 UTF-16 code units")
		}
	case filter.Int32, filter.Int64:
		bits := 64
		if t == filter.Int32 {
			bits = 32
		}
		n, err := strconv.ParseInt(m.Text, 10, bits)
		switch {
		case err != nil && m.Kind == request.NumberValue:
			return v, errInvalidInput.Because(m.Name + ": not a whole number of its type")
		case err != nil || m.Text[0] == '+':
			return v, errValueType.Because(m.Name + ": not a whole number of its type")
		}
		v.Int = n
	case filter.Double:
		return parseDouble(m)
	case filter.Boolean:
		// Text may be in any case: https://github.com/Azure/Azurite/issues/1947
		switch {
		case strings.EqualFold(m.Text, "true"):
			v.Int = 1
		case !strings.EqualFold(m.Text, "false"):
			return v, errValueType.Because(m.Name + ": not true or false")
		}
	case filter.DateTime:
		at, ok := filter.ParseTime(m.Text)
		switch {
		case !ok:
			return v, errValueType.Because(m.Name + ": not a time in UTC or with an offset, with at most seven digits of a second")
		case at.Before(minTime), at.Year() > 9999:
			return v, errOutOfRange.Because(m.Name + ": a time is from 1601 to 9999")
		}
		v.Int = filter.Ticks(at)
	case filter.GUID:
		ok := false
		if v.Text, ok = filter.ParseGUID(m.Text); !ok {
			return v, errValueType.Because(m.Name + ": not a GUID")
		}
	default:
		b, err := base64.StdEncoding.Strict().DecodeString(m.Text)
		if err != nil || strings.ContainsAny(m.Text, "\r\n") {
			return v, errValueType.Because(m.Name + ": not base64 with padding")
		}
		if v.Text = string(b); len(b) > maxBinary {
			return v, errValueTooLarge.Because(m.Name + ": a binary value has at most 64 KiB")
		}
	}
	return v, nil
}

func parseDouble(m request.Member) (filter.Value, *reply.Error) {
	v := filter.Value{Type: filter.Double}
	switch m.Text {
	case "NaN":
		v.Float = math.NaN()
		return v, nil
	case "Infinity":
		v.Float = math.Inf(1)
		return v, nil
	case "-Infinity":
		v.Float = math.Inf(-1)
		return v, nil
	}
	var err error
	v.Float, err = strconv.ParseFloat(m.Text, 64)
	// Package strconv accepts more forms than JSON, package json also spaces.
	if err != nil || strings.Trim(m.Text, "0123456789+-.eE") != "" || !json.Valid([]byte(m.Text)) {
		return v, errValueType.Because(m.Name + ": not a Double")
	}
	return v, nil
}
