package logdata

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Format encodes a record as a line. This package has [JSON] and [Delimited]; a program
// may implement another. Its methods must be safe for concurrent use.
type Format interface {
	// Name returns the name of the format, which is stored in the LogVersion metadata of
	// each blob. It consists of letters, digits, dots and dashes, and must change when
	// the format changes.
	Name() string

	// AppendLine appends the line of r to dst, without any newline. r.Time is set and in
	// UTC, r.Attrs is compact, and all text is valid UTF-8. AppendLine must not retain r or
	// r.Attrs.
	AppendLine(dst []byte, r *Record) ([]byte, error)

	// ParseLine decodes a line that AppendLine returned. The Record must not share memory
	// with line. The error should be a [*LineError].
	ParseLine(line []byte) (Record, error)
}

// JSON is the default format, one JSON object per line:
//
//	{"time":"2014-07-31T18:04:05.5Z","level":"ERROR","msg":"disk full","attrs":{"disk":3}}
//
// Empty level, msg and attrs are omitted. A record without a time of its own has
// "arrived" instead of "time". ParseLine refuses lines with other members or without a
// time.
var JSON Format = jsonLines{}

type jsonLines struct{}

func (jsonLines) Name() string { return "json-1" }

func (jsonLines) AppendLine(dst []byte, r *Record) ([]byte, error) {
	if r.Arrived {
		dst = append(dst, `{"arrived":"`...)
	} else {
		dst = append(dst, `{"time":"`...)
	}
	dst = append(appendTime(dst, r.Time), '"')
	if r.Type != "" {
		dst = appendText(append(dst, `,"level":`...), r.Type)
	}
	if r.Message != "" {
		dst = appendText(append(dst, `,"msg":`...), r.Message)
	}
	if len(r.Attrs) > 0 {
		dst = append(append(dst, `,"attrs":`...), r.Attrs...)
	}
	return append(dst, '}'), nil
}

func (jsonLines) ParseLine(line []byte) (Record, error) {
	if r, ok := parseOwnLine(line); ok {
		return r, nil
	}
	return parseAnyLine(line)
}

// parseAnyLine decodes a line in any spelling that JSON permits.
func parseAnyLine(line []byte) (Record, error) {
	var l struct {
		Time    *string         `json:"time"`
		Arrived *string         `json:"arrived"`
		Level   string          `json:"level"`
		Msg     string          `json:"msg"`
		Attrs   json.RawMessage `json:"attrs"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Record{}, badLine("", "is not a JSON object of this format")
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return Record{}, badLine("", "continues after the JSON object")
	}
	if (l.Time == nil) == (l.Arrived == nil) {
		return Record{}, badLine("time", "is missing or present twice")
	}
	r := Record{Arrived: l.Time == nil, Type: l.Level, Message: l.Msg, Attrs: l.Attrs}
	if r.Arrived {
		l.Time = l.Arrived
	}
	var err error
	if r.Time, err = parseTime(*l.Time); err != nil {
		return Record{}, err
	}
	return r, checkAttrs(r.Attrs)
}

func checkAttrs(attrs []byte) error {
	if len(attrs) > 0 && (attrs[0] != '{' || !json.Valid(attrs)) {
		return badLine("attrs", reasonObject)
	}
	return nil
}

// validUTF8 replaces each run of invalid bytes with U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) { // much faster than ToValidUTF8
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

func appendTime(dst []byte, t time.Time) []byte { return t.AppendFormat(dst, time.RFC3339Nano) }

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, badLine("time", "is not in the form 2006-01-02T15:04:05Z")
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return t, badLine("time", reasonYear)
	}
	return t, nil
}
