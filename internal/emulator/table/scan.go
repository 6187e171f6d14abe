package table

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
)

// member is one name and value of a flat JSON object.
type member struct {
	name string
	kind kind
	text string // the decoded string, the number as written, "true" or "false"
}

// scanObject reads one JSON object whose values are scalars, which is all
// that an entity may be, in the order it is written. It is strict: anything
// that RFC 8259 does not allow, a nested value, invalid UTF-8 and a lone
// surrogate are refused.
func scanObject(b []byte) ([]member, bool) {
	s := scanner{b: b}
	members := make([]member, 0, 16)
	s.space()
	if !s.take('{') {
		return nil, false
	}
	s.space()
	if !s.take('}') {
		for {
			var m member
			var ok bool
			s.space()
			if m.name, ok = s.str(); !ok {
				return nil, false
			}
			s.space()
			if !s.take(':') {
				return nil, false
			}
			s.space()
			if m.kind, m.text, ok = s.scalar(); !ok {
				return nil, false
			}
			members = append(members, m)
			s.space()
			if s.take('}') {
				break
			}
			if !s.take(',') {
				return nil, false
			}
		}
	}
	s.space()
	return members, s.i == len(s.b)
}

type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
		s.i += len(w)
		return true
	}
	return false
}

func (s *scanner) scalar() (kind, string, bool) {
	if s.i == len(s.b) {
		return 0, "", false
	}
	switch s.b[s.i] {
	case '"':
		t, ok := s.str()
		return kindString, t, ok
	case 't':
		return kindBool, "true", s.word("true")
	case 'f':
		return kindBool, "false", s.word("false")
	case 'n':
		return kindNull, "", s.word("null")
	}
	t, ok := s.number()
	return kindNumber, t, ok
}

func (s *scanner) number() (string, bool) {
	from := s.i
	s.take('-')
	if !s.take('0') && !s.digits() {
		return "", false
	}
	if s.take('.') && !s.digits() {
		return "", false
	}
	if s.take('e') || s.take('E') {
		_ = s.take('+') || s.take('-')
		if !s.digits() {
			return "", false
		}
	}
	return string(s.b[from:s.i]), true
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}

func (s *scanner) str() (string, bool) {
	if !s.take('"') {
		return "", false
	}
	from := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw := s.b[from:s.i]
			s.i++
			return string(raw), utf8.Valid(raw)
		case c == '\\':
			return s.escaped(from)
		case c < ' ':
			return "", false
		}
		s.i++
	}
	return "", false
}

// escaped goes on with a string that began at from and has an escape at s.i.
func (s *scanner) escaped(from int) (string, bool) {
	out := append(make([]byte, 0, 2*(s.i-from)+32), s.b[from:s.i]...)
	for s.i < len(s.b) {
		c := s.b[s.i]
		s.i++
		switch {
		case c == '"':
			return string(out), utf8.Valid(out)
		case c < ' ':
			return "", false
		case c != '\\':
			out = append(out, c)
			continue
		}
		if s.i == len(s.b) {
			return "", false
		}
		c = s.b[s.i]
		s.i++
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := s.hex4()
			if !ok {
				return "", false
			}
			if utf16.IsSurrogate(r) {
				if !s.word(`\u`) {
					return "", false
				}
				low, ok := s.hex4()
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					return "", false
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return "", false
		}
	}
	return "", false
}

func (s *scanner) hex4() (rune, bool) {
	if len(s.b)-s.i < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s.b[s.i:s.i+4]), 16, 16)
	s.i += 4
	return rune(v), err == nil
}
