package edm

// maxDepth is the deepest nesting of values, the same as in encoding/json.
const maxDepth = 10000

// maxBody is the most bytes that a scanner can read: tokens have 32-bit positions.
const (
	maxBody = 1 << 31
	tooLong = "larger than 2 GiB"
)

type tokenKind uint8

const (
	tokNone tokenKind = iota
	tokString
	tokNumber
	tokTrue
	tokFalse
	tokNull
	tokNested // an object or an array
)

// A token is one JSON value of a body. For a string, start and end exclude the quotes.
type token struct {
	start, end uint32
	kind       tokenKind
	escaped    bool // a string with a backslash, or a number with an exponent
	integer    bool // a number without a decimal point and an exponent
	edm        Type // its annotation
}

// A scanner reads JSON text in strict accordance with RFC 8259, in UTF-8 only. Its methods
// return false on errors; err is the first one.
type scanner struct {
	data []byte
	pos  int
	err  *MalformedError
}

func (s *scanner) fail(at int, reason string) bool {
	if s.err == nil {
		s.err = &MalformedError{Offset: at, Reason: reason}
	}
	return false
}

func (s *scanner) unexpected() bool {
	if s.pos >= len(s.data) {
		return s.fail(s.pos, "cut short")
	}
	return s.fail(s.pos, "unexpected character")
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// expect skips white space and reads the character c.
func (s *scanner) expect(c byte) bool {
	s.skipSpace()
	if s.pos >= len(s.data) || s.data[s.pos] != c {
		return s.unexpected()
	}
	s.pos++
	return true
}

// peek skips white space and returns the character that follows, 0 at the end.
func (s *scanner) peek() byte {
	s.skipSpace()
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// atEnd reports whether only white space is left.
func (s *scanner) atEnd() bool {
	s.skipSpace()
	if s.pos < len(s.data) {
		return s.fail(s.pos, "text after the end")
	}
	return true
}

// failed returns the error, nil for none.
func (s *scanner) failed() error {
	if s.err != nil {
		return s.err
	}
	return nil
}

// value reads one value of any kind.
func (s *scanner) value(t *token, depth int) (ok bool) {
	s.skipSpace()
	if s.pos >= len(s.data) {
		return s.unexpected()
	}
	start := s.pos
	t.start = uint32(start)
	switch c := s.data[start]; {
	case c == '"':
		return s.text(t)
	case c == '-' || '0' <= c && c <= '9':
		return s.number(t)
	case c == '{' || c == '[':
		t.kind, ok = tokNested, s.nested(c, depth)
	case c == 't':
		t.kind, ok = tokTrue, s.literal("true")
	case c == 'f':
		t.kind, ok = tokFalse, s.literal("false")
	case c == 'n':
		t.kind, ok = tokNull, s.literal("null")
	default:
		return s.unexpected()
	}
	t.end = uint32(s.pos)
	return ok
}

func (s *scanner) literal(word string) bool {
	for i := range len(word) {
		if s.pos >= len(s.data) || s.data[s.pos] != word[i] {
			return s.unexpected()
		}
		s.pos++
	}
	return true
}

// nested reads the object or the array that begins with the character open.
func (s *scanner) nested(open byte, depth int) bool {
	if depth >= maxDepth {
		return s.fail(s.pos, "nested too deep")
	}
	var t token
	if open == '[' {
		return s.list('[', ']', func() bool { return s.value(&t, depth+1) })
	}
	return s.list('{', '}', func() bool { return s.name(&t) && s.value(&t, depth+1) })
}

// list reads an object or an array. It calls element for each member or element, which that reads.
func (s *scanner) list(open, end byte, element func() bool) bool {
	if !s.expect(open) {
		return false
	}
	if s.peek() == end {
		s.pos++
		return true
	}
	for element() {
		switch s.peek() {
		case ',':
			s.pos++
		case end:
			s.pos++
			return true
		default:
			return s.unexpected()
		}
	}
	return false
}

// name reads the name of a member and the colon.
func (s *scanner) name(t *token) bool {
	if s.peek() != '"' {
		return s.unexpected()
	}
	return s.text(t) && s.expect(':')
}

// number reads the number that begins at pos.
func (s *scanner) number(t *token) bool {
	data, i := s.data, s.pos
	t.kind, t.start, t.escaped, t.integer = tokNumber, uint32(i), false, true
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	case i < len(data) && isDigit(data[i]):
		i = digits(data, i)
	default:
		return s.badNumber(i)
	}
	if i < len(data) && data[i] == '.' {
		t.integer = false
		from := i + 1
		if i = digits(data, from); i == from {
			return s.badNumber(i)
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		t.integer, t.escaped = false, true
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = digits(data, from); i == from {
			return s.badNumber(i)
		}
	}
	t.end = uint32(i)
	s.pos = i
	return true
}

func (s *scanner) badNumber(at int) bool {
	if at >= len(s.data) {
		return s.fail(at, "cut short")
	}
	return s.fail(at, "not a legal number")
}
