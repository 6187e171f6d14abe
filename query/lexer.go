package query

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokOpen
	tokClose
	tokWord
	tokLiteral
)

type token struct {
	kind tokenKind
	off  int
	word string
	lit  literal
}

// lexer splits a filter text into tokens. It follows the OData rules of the service:
// keywords and names are case-sensitive, the names of literal types and the suffixes of
// numbers are not.
type lexer struct {
	text string
	pos  int
}

func (x *lexer) next() token {
	x.pos = len(x.text) - len(strings.TrimLeftFunc(x.text[x.pos:], unicode.IsSpace))
	t := token{kind: tokLiteral, off: x.pos}
	switch c := x.peek(); {
	case x.pos == len(x.text):
		t.kind = tokEnd
	case c == '(':
		x.pos++
		t.kind = tokOpen
	case c == ')':
		x.pos++
		t.kind = tokClose
	case c == '\'':
		t.lit = stringLiteral(x.quoted())
	case '0' <= c && c <= '9', c == '-':
		t.lit = x.number()
	default:
		x.named(&t)
	}
	return t
}

// decoders parse the quoted part of a literal such as guid'…', by the name of its type in
// lower case. Those without a function are not literals of the service.
var decoders = map[string]func(string) (lit literal, reason string){
	"datetime": parseDateTime, "guid": guidLiteral, "x": parseBinary, "binary": parseBinary,
	"time": nil, "datetimeoffset": nil,
}

// named consumes a literal that begins with a word, or the word alone.
func (x *lexer) named(t *token) {
	if t.word = x.word(); t.word == "" {
		panic(&SyntaxError{t.off, "unexpected character"})
	}
	if x.peek() == '\'' {
		decode, ok := decoders[strings.ToLower(t.word)]
		reason := "the service has no literals of this type"
		if decode != nil {
			t.lit, reason = decode(x.quoted())
		}
		if ok && reason != "" {
			panic(&SyntaxError{t.off, reason})
		}
		if ok {
			return
		}
	}
	switch t.word {
	case "true", "false":
		t.lit = boolLiteral(t.word == "true")
	case "null":
		panic(&SyntaxError{t.off, "null cannot be compared; a missing property never matches"})
	case "NaN", "INF", "NaNf", "NaNF", "INFf", "INFF":
		panic(&SyntaxError{t.off, "NaN and infinity have no literal in a filter"})
	default:
		t.kind = tokWord
	}
}

// peek returns the next byte, 0 at the end of the text.
func (x *lexer) peek() byte {
	if x.pos < len(x.text) {
		return x.text[x.pos]
	}
	return 0
}

// word consumes and returns an identifier, or "" if there is none.
func (x *lexer) word() string {
	start := x.pos
	for x.pos < len(x.text) {
		r, size := utf8.DecodeRuneInString(x.text[x.pos:])
		if x.pos == start && !nameStart(r) || !namePart(r) {
			break
		}
		x.pos += size
	}
	return x.text[start:x.pos]
}

// quoted consumes a quoted text and returns its value.
func (x *lexer) quoted() string {
	open := x.pos
	rest := x.text[open+1:]
	end := 0
	for {
		i := strings.IndexByte(rest[end:], '\'')
		if i < 0 {
			panic(&SyntaxError{open, "the quote is not closed"})
		}
		end += i
		if end+1 == len(rest) || rest[end+1] != '\'' {
			break
		}
		end += 2
	}
	x.pos = open + 1 + end + 1
	return strings.ReplaceAll(rest[:end], "''", "'")
}

func parseBinary(s string) (literal, string) {
	b, err := hex.DecodeString(s)
	if err != nil {
		return literal{}, "not an even number of hexadecimal digits"
	}
	return literal{typ: Binary, text: string(b)}, ""
}

// dateTimeLayouts are the ISO 8601 formats in use. A time without a zone is UTC.
var dateTimeLayouts = [...]string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
}

func parseDateTime(s string) (literal, string) {
	const bad = "not a time of the form 2006-01-02T15:04:05.0000000Z"
	// time.Parse accepts more than the service: hours with one digit, a comma instead
	// of the point, and any number of fractional digits.
	if len(s) > 10 && (len(s) < 16 || s[13] != ':') || strings.Contains(s, ",") {
		return literal{}, bad
	}
	if _, fraction, ok := strings.Cut(s, "."); ok {
		if len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) > 7 {
			return literal{}, "a time has at most 7 fractional digits"
		}
	}
	for _, layout := range dateTimeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return dateTimeLiteral(t)
		}
	}
	return literal{}, bad
}

// number consumes an Int32, an Int64 (with the suffix L) or a Double (with a point, an
// exponent or the suffix D).
func (x *lexer) number() literal {
	start := x.pos
	if x.peek() == '-' {
		x.pos++
	}
	x.digits(start, "a minus sign is allowed only before a number; the service has no arithmetic")
	double := false
	if x.peek() == '.' {
		x.pos++
		double = true
		x.digits(x.pos, "a digit is missing after the point")
	}
	if c := x.peek(); c == 'e' || c == 'E' {
		x.pos++
		double = true
		if c := x.peek(); c == '+' || c == '-' {
			x.pos++
		}
		x.digits(x.pos, "a digit is missing in the exponent")
	}
	text := x.text[start:x.pos]
	at := x.pos
	suffix := x.word()
	switch {
	case suffix == "" && !double:
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			panic(&SyntaxError{start, "the number is not an Int32; an Int64 ends in L"})
		}
		return intLiteral(Int32, v)
	case (suffix == "L" || suffix == "l") && !double:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(&SyntaxError{start, "the number is larger than an Int64"})
		}
		return intLiteral(Int64, v)
	case suffix == "" || suffix == "D" || suffix == "d":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) {
			panic(&SyntaxError{start, "the number is larger than a Double"})
		}
		return literal{typ: Double, num: math.Float64bits(v)}
	}
	panic(&SyntaxError{at, "unknown suffix of a number"})
}

// digits consumes decimal digits. If there are none, the error is at off.
func (x *lexer) digits(off int, reason string) {
	start := x.pos
	for c := x.peek(); '0' <= c && c <= '9'; c = x.peek() {
		x.pos++
	}
	if x.pos == start {
		panic(&SyntaxError{off, reason})
	}
}
