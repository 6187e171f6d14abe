package logdata

import (
	"html"
	"strings"
)

// escapes are what has to be encoded within quotes.
var escapes = strings.NewReplacer(`"`, "&quot;", "&", "&amp;", "\n", "&#10;", "\r", "&#13;")

// appendField appends text as a field of a delimited line.
func appendField(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, "\";&\n\r") {
		return append(dst, text...)
	}
	dst = append(append(dst, '"'), escapes.Replace(text)...)
	return append(dst, '"')
}

// splitFields gives the fields of a delimited line, decoded. A field in quotes is
// HTML-encoded, any other is as it stands: so first the quotes are looked for, and
// then what is within them is decoded, whose entities end in semicolons.
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
			return nil, badLine("", "has a quote that is not closed")
		}
		fields = append(fields, html.UnescapeString(field))
		if after == "" {
			return fields, nil
		}
		var more bool
		if rest, more = strings.CutPrefix(after, ";"); !more {
			return nil, badLine("", "goes on after a closing quote without a semicolon")
		}
	}
}
