package filter

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	end tokenKind = iota
	opening
	closing
	name
	literal
)

type token struct {
	kind  tokenKind
	text  string // of a name
	value Value  // of a literal
}

// lexer splits a filter into tokens.
type lexer struct{ rest string }

func (l *lexer) next() (token, error) {
	l.rest = strings.TrimLeftFunc(l.rest, unicode.IsSpace)
	if l.rest == "" {
		return token{}, nil
	}
	switch c := l.rest[0]; {
	case c == '(':
		l.rest = l.rest[1:]
		return token{kind: opening}, nil
	case c == ')':
		l.rest = l.rest[1:]
		return token{kind: closing}, nil
	case c == '\'':
		text, ok := l.quoted()
		return literalOf(Value{Type: String, Text: text}, ok)
	case c == '-', '0' <= c && c <= '9':
		return l.number()
	}
	word := l.take(isNamePart)
	switch {
	case word == "" || !isNameStart(word):
		return token{}, ErrSyntax
	case strings.HasPrefix(l.rest, "'"):
		text, ok := l.quoted()
		v, valid := typed(word, text)
		return literalOf(v, ok && valid)
	case word == "true":
		return literalOf(Value{Type: Boolean, Int: 1}, true)
	case word == "false":
		return literalOf(Value{Type: Boolean}, true)
	}
	return token{kind: name, text: word}, nil
}

func literalOf(v Value, ok bool) (token, error) {
	if !ok {
		return token{}, ErrSyntax
	}
	return token{kind: literal, value: v}, nil
}

// take removes and returns the characters at the beginning for which part returns true.
func (l *lexer) take(part func(rune) bool) string {
	i := strings.IndexFunc(l.rest, func(r rune) bool { return !part(r) })
	if i < 0 {
		i = len(l.rest)
	}
	text := l.rest[:i]
	l.rest = l.rest[i:]
	return text
}

// isNamePart reports whether r can be in the name of a property, which is a C# identifier.
func isNamePart(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Cf)
}

func isNameStart(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r == '_' || unicode.In(r, unicode.L, unicode.Nl)
}

// quoted removes a text in single quotes, in which a quote is doubled.
func (l *lexer) quoted() (string, bool) {
	var b strings.Builder
	for rest := l.rest[1:]; ; {
		before, after, ok := strings.Cut(rest, "'")
		if !ok {
			return "", false
		}
		b.WriteString(before)
		if !strings.HasPrefix(after, "'") {
			l.rest = after
			return b.String(), utf8.ValidString(b.String())
		}
		b.WriteByte('\'')
		rest = after[1:]
	}
}

// typed returns the value of a literal such as guid'…'.
func typed(prefix, text string) (Value, bool) {
	switch strings.ToLower(prefix) {
	case "datetime":
		t, ok := ParseTime(text)
		return Value{Type: DateTime, Int: Ticks(t)}, ok && t.Year() >= 1601
	case "guid":
		id, ok := ParseGUID(text)
		return Value{Type: GUID, Text: id}, ok
	case "x", "binary":
		b, err := hex.DecodeString(text)
		return Value{Type: Binary, Text: string(b)}, err == nil
	}
	return Value{}, false
}

// number removes a number: an Int32; an Int64, which ends in L; or a Double, which has a
// point, an exponent or the suffix D.
func (l *lexer) number() (token, error) {
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	whole := l.rest
	l.cut("-")
	if l.take(isDigit) == "" {
		return token{}, ErrSyntax
	}
	double := false
	if l.cut(".") {
		double = true
		if l.take(isDigit) == "" {
			return token{}, ErrSyntax
		}
	}
	if l.cut("e") || l.cut("E") {
		double = true
		_ = l.cut("+") || l.cut("-")
		if l.take(isDigit) == "" {
			return token{}, ErrSyntax
		}
	}
	text := whole[:len(whole)-len(l.rest)]
	switch suffix := strings.ToLower(l.take(isNamePart)); {
	case suffix == "" && !double:
		v, err := strconv.ParseInt(text, 10, 32)
		return literalOf(Value{Type: Int32, Int: v}, err == nil)
	case suffix == "l" && !double:
		v, err := strconv.ParseInt(text, 10, 64)
		return literalOf(Value{Type: Int64, Int: v}, err == nil)
	case suffix == "" || suffix == "d":
		v, err := strconv.ParseFloat(text, 64)
		return literalOf(Value{Type: Double, Float: v}, err == nil && !math.IsInf(v, 0))
	}
	return token{}, ErrSyntax
}

func (l *lexer) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(l.rest, prefix)
	l.rest = rest
	return ok
}
