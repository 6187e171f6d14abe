package request

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of a value in a flat object.
const (
	NullValue Kind = iota
	BoolValue
	NumberValue
	StringValue
)

// Member is a name and a value of a flat JSON object.
type Member struct {
	Name string
	Kind Kind
	Text string // the decoded string, the number as written, "true" or "false"
}

// object is the body as a JSON object.
type object struct {
	members []Member
	ok      bool
}

// Object parses the body as a JSON object and returns its members in order. It returns
// false if the body is not a flat JSON object.
func (r *Request) Object() ([]Member, bool) {
	if r.object == nil {
		body, refusal := r.Body(MaxTableBody)
		members, ok := scanObject(body)
		r.object = &object{members, ok && refusal == nil}
	}
	return r.object.members, r.object.ok
}

// IsNumber reports whether s is a number in JSON.
func IsNumber(s string) bool {
	number := scanner{b: []byte(s)}
	_, ok := number.number()
	return ok && number.i == len(number.b)
}

// Scalar returns the value that a JSON text is, which must be valid.
func Scalar(json string) Member {
	s := scanner{b: []byte(json)}
	var m Member
	m.Kind, m.Text, _ = s.scalar()
	return m
}

// scanObject parses a JSON object whose values are scalars, as those of an entity are. It
// refuses everything that RFC 8259 does not allow, and also nested values, invalid UTF-8
// and lone surrogates.
func scanObject(b []byte) ([]Member, bool) {
	s := scanner{b: b}
	members := make([]Member, 0, 16)
	s.space()
	if !s.take('{') {
		return nil, false
	}
	s.space()
	if !s.take('}') {
		for {
			var m Member
			var ok bool
			s.space()
			if m.Name, ok = s.str(); !ok {
				return nil, false
			}
			s.space()
			if !s.take(':') {
				return nil, false
			}
			s.space()
			if m.Kind, m.Text, ok = s.scalar(); !ok {
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

func (s *scanner) scalar() (Kind, string, bool) {
	if s.i == len(s.b) {
		return 0, "", false
	}
	switch s.b[s.i] {
	case '"':
		t, ok := s.str()
		return StringValue, t, ok
	case 't':
		return BoolValue, "true", s.word("true")
	case 'f':
		return BoolValue, "false", s.word("false")
	case 'n':
		return NullValue, "", s.word("null")
	}
	t, ok := s.number()
	return NumberValue, t, ok
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

// escaped parses the rest of a string that began at from and has an escape at s.i.
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
