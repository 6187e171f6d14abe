package edm

// maxDepth is the nesting that encoding/json allows too.
const maxDepth = 10000

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

// A token is one JSON value of a body. For a string, start and end leave the
// quotes out.
type token struct {
	start, end uint32
	kind       tokenKind
	escaped    bool // a string with a backslash
	integer    bool // a number without point and exponent
	edm        Type // its annotation
}

// A scanner reads JSON text exactly as RFC 8259 has it, and UTF-8 only. The first
// error sticks.
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

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// expect takes spacing and then the character c.
func (s *scanner) expect(c byte) bool {
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != c {
		return s.unexpected()
	}
	s.pos++
	return true
}

// next takes spacing and says which character follows, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// finish answers whether nothing but spacing is left.
func (s *scanner) finish() bool {
	s.space()
	if s.pos < len(s.data) {
		return s.fail(s.pos, "text after the end")
	}
	return true
}

// value takes one value of any kind.
func (s *scanner) value(t *token, depth int) bool {
	s.space()
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
	if s.next() == '}' {
		s.pos++
		return true
	}
	for {
		var t token
		if s.next() != '"' {
			return s.unexpected()
		}
		if !s.text(&t) || !s.expect(':') || !s.value(&t, depth+1) {
			return false
		}
		switch s.next() {
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
	if s.next() == ']' {
		s.pos++
		return true
	}
	for {
		var t token
		if !s.value(&t, depth+1) {
			return false
		}
		switch s.next() {
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
