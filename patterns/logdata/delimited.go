package logdata

import (
	"encoding/json"
	"html"
	"regexp"
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

// splitFields returns the decoded fields of a delimited line.
//
// If a line follows the documented rule, a quoted field is HTML-encoded and contains no
// quote, and any other field contains no character reference. The documented sample lines
// break the rule in both ways. So a quoted field ends at a quote before a semicolon or the
// end of the line. Any other field ends at a semicolon that does not end a reference.
func splitFields(line []byte) ([]string, error) {
	rest := string(line)
	var fields []string
	for {
		end := unquotedEnd(rest)
		field := rest[:end]
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			n := quotedEnd(quoted)
			if n < 0 {
				return nil, badLine("", "contains an unclosed quote")
			}
			field, end = quoted[:n], n+2
		}
		fields = append(fields, decodeReferences(field))
		if end == len(rest) {
			return fields, nil
		}
		rest = rest[end+1:]
	}
}

// quotedEnd returns the index of the quote that closes a field, -1 if there is none.
func quotedEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '"' && (i+1 == len(s) || s[i+1] == ';') {
			return i
		}
	}
	return -1
}

// unquotedEnd returns the length of the field that s begins with.
func unquotedEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == ';' && !endsInReference.MatchString(s[max(0, i+1-maxReference):i+1]) {
			return i
		}
	}
	return len(s)
}

// HTML knows many more references by name. The service writes only these, and the others
// occur in URLs: "?a=1&copy=2".
const (
	reference    = `&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});`
	maxReference = len("&#1114111;")
)

var (
	references      = regexp.MustCompile(reference)
	endsInReference = regexp.MustCompile(reference + `$`)
)

func decodeReferences(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return references.ReplaceAllStringFunc(s, html.UnescapeString)
}
