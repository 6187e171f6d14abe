package logdata

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Format is how a record is written as a line. [JSON] and [Delimited] are the formats
// of this package; a program may have its own. It must be safe for concurrent use.
type Format interface {
	// Name is stored with each blob, as its LogVersion metadata: letters, digits,
	// dots and dashes. It changes when the format does.
	Name() string

	// AppendLine appends the line of r to dst, without the newline at its end, and
	// without any within it. r.Time is set and in UTC, r.Attrs is compact, and all text
	// is UTF-8.
	AppendLine(dst []byte, r *Record) ([]byte, error)

	// ParseLine reads a line that AppendLine has written; what it returns does not
	// share memory with line. Its error is a [*LineError].
	ParseLine(line []byte) (Record, error)
}

// JSON is the default format, one JSON object a line:
//
//	{"time":"2014-07-31T18:04:05.5Z","level":"ERROR","msg":"disk full","attrs":{"disk":3}}
//
// level, msg and attrs are left out where they are empty. A record that came without
// a time has "arrived" in place of "time". ParseLine refuses a line that has another
// member, or no time.
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
		return Record{}, badLine("", "goes on after its JSON object")
	}
	if (l.Time == nil) == (l.Arrived == nil) {
		return Record{}, badLine("time", "is not there, or twice")
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

// appendText appends s as a JSON string. Marshal never fails for one.
func appendText(dst []byte, s string) []byte {
	text, _ := json.Marshal(utf8Of(s))
	return append(dst, text...)
}

// utf8Of has U+FFFD for each run of bytes that are not UTF-8.
func utf8Of(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func appendTime(dst []byte, t time.Time) []byte { return t.AppendFormat(dst, time.RFC3339Nano) }

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, badLine("time", "is not of the form 2006-01-02T15:04:05Z")
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return t, badLine("time", reasonYear)
	}
	return t, nil
}

// Delimited is the format of the Storage Analytics logs with the fields of a record:
//
//	2014-07-31T18:04:05.5Z;ERROR;disk full;"{&quot;disk&quot;:3}"
//
// A field that has a quote, a semicolon, an ampersand or a line break is
// HTML-encoded and stands in double quotes. "~" before the time tells that the
// record came without one.
var Delimited Format = delimited{}

type delimited struct{}

func (delimited) Name() string { return "delimited-1" }

func (delimited) AppendLine(dst []byte, r *Record) ([]byte, error) {
	if r.Arrived {
		dst = append(dst, '~')
	}
	dst = appendTime(dst, r.Time)
	for _, text := range []string{r.Type, r.Message} {
		dst = appendField(append(dst, ';'), utf8Of(text))
	}
	return appendField(append(dst, ';'), string(r.Attrs)), nil
}

func (delimited) ParseLine(line []byte) (Record, error) {
	fields, err := splitFields(line)
	if err != nil {
		return Record{}, err
	}
	if len(fields) != 4 {
		return Record{}, badLine("", "does not have four fields")
	}
	text, arrived := strings.CutPrefix(fields[0], "~")
	r := Record{Arrived: arrived, Type: fields[1], Message: fields[2]}
	if fields[3] != "" {
		r.Attrs = json.RawMessage(fields[3])
	}
	if r.Time, err = parseTime(text); err != nil {
		return Record{}, err
	}
	return r, checkAttrs(r.Attrs)
}
