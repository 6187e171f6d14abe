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

func (x *lexer) next() (token, *SyntaxError) {
	for x.pos < len(x.text) {
		r, size := utf8.DecodeRuneInString(x.text[x.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		x.pos += size
	}
	start := x.pos
	if start == len(x.text) {
		return token{kind: tokEnd, off: start}, nil
	}
	switch c := x.text[start]; {
	case c == '(':
		x.pos++
		return token{kind: tokOpen, off: start}, nil
	case c == ')':
		x.pos++
		return token{kind: tokClose, off: start}, nil
	case c == '\'':
		s, err := x.quoted()
		return token{kind: tokLiteral, off: start, lit: stringLiteral(s)}, err
	case '0' <= c && c <= '9', c == '-':
		lit, err := x.number()
		return token{kind: tokLiteral, off: start, lit: lit}, err
	}
	word := x.word()
	if word == "" {
		return token{}, &SyntaxError{start, "unexpected character"}
	}
	if x.peek() == '\'' {
		lit, ok, err := x.typed(word, start)
		if ok || err != nil {
			return token{kind: tokLiteral, off: start, lit: lit}, err
		}
	}
	switch word {
	case "true", "false":
		return token{kind: tokLiteral, off: start, lit: boolLiteral(word == "true")}, nil
	case "null":
		return token{}, &SyntaxError{start, "null cannot be compared; a missing property never matches"}
	case "NaN", "INF", "NaNf", "NaNF", "INFf", "INFF":
		return token{}, &SyntaxError{start, "NaN and infinity have no literal in a filter"}
	}
	return token{kind: tokWord, off: start, word: word}, nil
}

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
func (x *lexer) quoted() (string, *SyntaxError) {
	open := x.pos
	rest := x.text[open+1:]
	end := 0
	doubled := false
	for {
		i := strings.IndexByte(rest[end:], '\'')
		if i < 0 {
			return "", &SyntaxError{open, "the quote is not closed"}
		}
		end += i
		if end+1 == len(rest) || rest[end+1] != '\'' {
			break
		}
		doubled = true
		end += 2
	}
	x.pos = open + 1 + end + 1
	if doubled {
		return strings.ReplaceAll(rest[:end], "''", "'"), nil
	}
	return rest[:end], nil
}

// typed consumes the quoted part of a literal such as guid'…'. It returns false if the
// word is not the name of a literal type.
func (x *lexer) typed(word string, start int) (literal, bool, *SyntaxError) {
	var decode func(string) (literal, string)
	switch strings.ToLower(word) {
	case "datetime":
		decode = parseDateTime
	case "guid":
		decode = guidLiteral
	case "x", "binary":
		decode = parseBinary
	case "time", "datetimeoffset":
		return literal{}, false, &SyntaxError{start, "the service has no literals of this type"}
	default:
		return literal{}, false, nil
	}
	s, err := x.quoted()
	if err != nil {
		return literal{}, false, err
	}
	lit, reason := decode(s)
	if reason != "" {
		return literal{}, false, &SyntaxError{start, reason}
	}
	return lit, true, nil
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
func (x *lexer) number() (literal, *SyntaxError) {
	start := x.pos
	if x.peek() == '-' {
		x.pos++
		if x.digits() == 0 {
			return literal{}, &SyntaxError{start, "a minus sign is allowed only before a number; the service has no arithmetic"}
		}
	} else {
		x.digits()
	}
	double := false
	if x.peek() == '.' {
		x.pos++
		double = true
		if x.digits() == 0 {
			return literal{}, &SyntaxError{x.pos, "a digit is missing after the point"}
		}
	}
	if c := x.peek(); c == 'e' || c == 'E' {
		x.pos++
		double = true
		if c := x.peek(); c == '+' || c == '-' {
			x.pos++
		}
		if x.digits() == 0 {
			return literal{}, &SyntaxError{x.pos, "a digit is missing in the exponent"}
		}
	}
	text := x.text[start:x.pos]
	at := x.pos
	suffix := x.word()
	switch {
	case suffix == "" && !double:
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return literal{}, &SyntaxError{start, "the number is not an Int32; an Int64 ends in L"}
		}
		return intLiteral(Int32, v), nil
	case (suffix == "L" || suffix == "l") && !double:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return literal{}, &SyntaxError{start, "the number is larger than an Int64"}
		}
		return intLiteral(Int64, v), nil
	case suffix == "" || suffix == "D" || suffix == "d":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) {
			return literal{}, &SyntaxError{start, "the number is larger than a Double"}
		}
		return literal{typ: Double, num: math.Float64bits(v)}, nil
	}
	return literal{}, &SyntaxError{at, "unknown suffix of a number"}
}

func (x *lexer) digits() int {
	start := x.pos
	for c := x.peek(); '0' <= c && c <= '9'; c = x.peek() {
		x.pos++
	}
	return x.pos - start
}
