package heat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// body reads the keys of the entities in the body of an insert or a transaction, and
// rewinds it. The bodies of aztables and of package patterns can be rewound.
func (r *request) body(raw *http.Request) {
	body, ok := raw.Body.(io.ReadSeeker)
	if !ok {
		return
	}
	scan := bodyScan{r: r, batch: r.kind == kindBatch, waits: r.kind != kindBatch}
	if scan.waits {
		r.rows = append(r.rows, span{})
	}
	for kept := 0; ; {
		n, err := body.Read(r.window[kept:])
		kept = scan.take(r.window[:kept+n], err != nil)
		if err != nil {
			break
		}
	}
	_, _ = body.Seek(0, io.SeekStart) // bytes in memory: never fails
}

// bodyScan finds the keys in a body that arrives in pieces.
type bodyScan struct {
	r     *request
	batch bool
	waits bool // the last row is an insert whose row key is in its JSON
	long  bool // the line is longer than the window
}

// take reads complete lines, and lines that fill the window. It moves what is left to the
// start of the window and returns its length.
func (s *bodyScan) take(window []byte, end bool) int {
	for rest := window; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		switch {
		case i >= 0:
			s.line(rest[:i])
			s.long = false
			rest = rest[i+1:]
		case end:
			s.line(rest)
			return 0
		case len(rest) == len(s.r.window):
			// A key with the escapes of JSON is shorter than half of the window.
			s.line(rest)
			s.long = true
			return copy(window, rest[len(rest)/2:])
		default:
			return copy(window, rest)
		}
	}
	return 0
}

var methods = [...]string{"POST ", "PUT ", "PATCH ", "MERGE ", "DELETE ", "GET "}

func (s *bodyScan) line(line []byte) {
	if s.long || len(line) > 0 && line[0] == '{' {
		if s.waits {
			s.entity(line)
		}
		return
	}
	if !s.batch {
		return
	}
	for _, m := range methods {
		if len(line) > len(m) && string(line[:len(m)]) == m {
			address := line[len(m):]
			if i := bytes.IndexAny(address, " ?"); i >= 0 {
				address = address[:i]
			}
			s.operation(address[bytes.LastIndexByte(address, '/')+1:], m == "POST ")
			return
		}
	}
}

// operation adds the row of a request line of a transaction.
func (s *bodyScan) operation(address []byte, post bool) {
	r := s.r
	whole := r.unescaped(add(r, address))
	if len(r.rows) == 0 {
		name := r.in(whole)
		if i := bytes.IndexByte(name, '('); i >= 0 {
			name = name[:i]
		}
		r.inBatch = span{whole.from, whole.from + int32(len(name))}
	}
	if bytes.IndexByte(r.in(whole), '(') >= 0 {
		r.address(whole)
		s.waits = false
		return
	}
	r.insert = r.insert || post
	r.rows = append(r.rows, span{})
	s.waits = true
}

// entity reads the keys in the JSON of an insert. Both names are unambiguous: a quote
// within a value is escaped.
func (s *bodyScan) entity(text []byte) {
	r := s.r
	if r.partition == (span{}) {
		if key, ok := r.member(text, `PartitionKey":`); ok {
			r.partition = key
		}
	}
	if key, ok := r.member(text, `RowKey":`); ok {
		r.rows[len(r.rows)-1] = key
		s.waits = r.partition == span{} && !s.batch
	}
}

// member returns the text of a string in JSON. name is the end of that of the member, up to
// the colon, without the quote that precedes it: a rare byte is found faster.
func (r *request) member(text []byte, name string) (span, bool) {
	i := bytes.Index(text, []byte(name))
	for ; i > 0 && text[i-1] != '"'; i += 1 + bytes.Index(text[i+1:], []byte(name)) {
		if !bytes.Contains(text[i+1:], []byte(name)) {
			return span{}, false
		}
	}
	if i <= 0 {
		return span{}, false
	}
	value := text[skipSpaces(text, i+len(name)):]
	if len(value) == 0 || value[0] != '"' {
		return span{}, false
	}
	value = value[1:]
	for end := 0; ; end++ {
		i := bytes.IndexByte(value[end:], '"')
		if i < 0 {
			return span{}, false
		}
		end += i
		escapes := 0
		for end-escapes > 0 && value[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return add(r, unescapedJSON(value[:end])), true
		}
	}
}

// address reads the keys of Table(PartitionKey='…',RowKey='…').
func (r *request) address(s span) {
	const first, second = "(PartitionKey='", "',RowKey='"
	text := r.in(s)
	start, middle := bytes.Index(text, []byte(first)), bytes.Index(text, []byte(second))
	row := middle + len(second)
	if start < 0 || middle < start+len(first) || !bytes.HasSuffix(text, []byte("')")) || len(text)-2 < row {
		return
	}
	if r.partition == (span{}) {
		r.partition = r.unquoted(span{s.from + int32(start+len(first)), s.from + int32(middle)})
	}
	r.rows = append(r.rows, r.unquoted(span{s.from + int32(row), s.to - 2}))
}

// unescapedJSON returns the value of the text of a JSON string. Few keys have escapes.
func unescapedJSON(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var value string
	if json.Unmarshal(fmt.Appendf(nil, "\"%s\"", text), &value) != nil {
		return text
	}
	return []byte(value)
}

// unquoted replaces each pair of quotes by one.
func (r *request) unquoted(s span) span {
	if bytes.IndexByte(r.in(s), '\'') < 0 {
		return s
	}
	return span{s.from, s.from + int32(copy(r.in(s), bytes.ReplaceAll(r.in(s), []byte("''"), []byte("'"))))}
}

// unescaped replaces the percent encoding.
func (r *request) unescaped(s span) span {
	text := r.in(s)
	n := bytes.IndexByte(text, '%')
	if n < 0 {
		return s
	}
	for i := n; i < len(text); i++ {
		c := text[i]
		if c == '%' && i+2 < len(text) {
			if hi, lo := hexDigit(text[i+1]), hexDigit(text[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
			}
		}
		text[n] = c
		n++
	}
	return span{s.from, s.from + int32(n)}
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
