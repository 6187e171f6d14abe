package logdata

import (
	"encoding/json"
	"html"
	"strings"
)

// Delimited is the format of the Storage Analytics logs, with the fields of a record:
//
//	2014-07-31T18:04:05.5Z;ERROR;disk full;"{&quot;disk&quot;:3}"
//
// A field that contains a quote, a semicolon, an ampersand or a line break is
// HTML-encoded and enclosed in double quotes. "~" before the time marks a record that
// was written without a time.
var Delimited Format = delimited{}

type delimited struct{}

func (delimited) Name() string { return "delimited-1" }

func (delimited) AppendLine(dst []byte, r *Record) ([]byte, error) {
	if r.Arrived {
		dst = append(dst, '~')
	}
	dst = appendTime(dst, r.Time)
	for _, text := range []string{r.Type, r.Message} {
		dst = appendField(append(dst, ';'), validUTF8(text))
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

// escapes encodes the characters that a quoted field must not contain.
var escapes = strings.NewReplacer(`"`, "&quot;", "&", "&amp;", "\n", "&#10;", "\r", "&#13;")

// appendField appends text as a field of a delimited line.
func appendField(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, "\";&\n\r") {
		return append(dst, text...)
	}
	dst = append(append(dst, '"'), escapes.Replace(text)...)
	return append(dst, '"')
}

// splitFields returns the decoded fields of a delimited line. Only a quoted field is
// HTML-encoded. The line is split before fields are decoded, because HTML entities end
// in semicolons.
func splitFields(line []byte) ([]string, error) {
	rest := string(line)
	var fields []string
	for {
		quoted, isQuoted := strings.CutPrefix(rest, `"`)
		if !isQuoted {
			field, after, more := strings.Cut(rest, ";")
			if fields = append(fields, field); !more {
				return fields, nil
			}
			rest = after
			continue
		}
		field, after, closed := strings.Cut(quoted, `"`)
		if !closed {
			return nil, badLine("", "contains an unclosed quote")
		}
		fields = append(fields, html.UnescapeString(field))
		if after == "" {
			return fields, nil
		}
		var more bool
		if rest, more = strings.CutPrefix(after, ";"); !more {
			return nil, badLine("", "has no semicolon after a closing quote")
		}
	}
}
