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

// value reads one value of any kind.
func (s *scanner) value(t *token, depth int) bool {
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
	case c == '{':
		t.kind = tokNested
		if !s.object(depth) {
			return false
		}
	case c == '[':
		t.kind = tokNested
		if !s.array(depth) {
			return false
		}
	case c == 't':
		t.kind = tokTrue
		if !s.literal("true") {
			return false
		}
	case c == 'f':
		t.kind = tokFalse
		if !s.literal("false") {
			return false
		}
	case c == 'n':
		t.kind = tokNull
		if !s.literal("null") {
			return false
		}
	default:
		return s.unexpected()
	}
	t.end = uint32(s.pos)
	return true
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

func (s *scanner) object(depth int) bool {
	if depth >= maxDepth {
		return s.fail(s.pos, "nested too deep")
	}
	s.pos++
	if s.peek() == '}' {
		s.pos++
		return true
	}
	for {
		var t token
		if s.peek() != '"' {
			return s.unexpected()
		}
		if !s.text(&t) || !s.expect(':') || !s.value(&t, depth+1) {
			return false
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return true
		default:
			return s.unexpected()
		}
	}
}

func (s *scanner) array(depth int) bool {
	if depth >= maxDepth {
		return s.fail(s.pos, "nested too deep")
	}
	s.pos++
	if s.peek() == ']' {
		s.pos++
		return true
	}
	for {
		var t token
		if !s.value(&t, depth+1) {
			return false
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return true
		default:
			return s.unexpected()
		}
	}
}
