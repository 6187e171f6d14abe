package reply

import "unicode/utf8"

// XMLHeader begins every XML document of the services.
const XMLHeader = `<?xml version="1.0" encoding="utf-8"?>`

// AppendXML appends s as the text of an element, or of a double-quoted attribute if
// attr is true. It writes character references only if a parser would otherwise
// change the text, because some clients do not read numeric references. A carriage
// return needs one: a parser turns it into a newline. Characters that XML does not
// allow become U+FFFD.
func AppendXML(b []byte, s string, attr bool) []byte {
	from := 0
	for i, r := range s {
		var ref string
		switch {
		case r == '&':
			ref = "&amp;"
		case r == '<':
			ref = "&lt;"
		case r == '>':
			ref = "&gt;"
		case r == '\r':
			ref = "&#xD;"
		case r == '"' && attr:
			ref = "&quot;"
		case r == '\n' && attr:
			ref = "&#xA;"
		case r == '\t' && attr:
			ref = "&#x9;"
		case r == utf8.RuneError || !LegalXML(r):
			ref = "\uFFFD"
		default:
			continue
		}
		b = append(append(b, s[from:i]...), ref...)
		_, n := utf8.DecodeRuneInString(s[i:])
		from = i + n
	}
	return append(b, s[from:]...)
}

// LegalXML reports whether XML allows the character r
// (https://www.w3.org/TR/xml/#charsets).
func LegalXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}
