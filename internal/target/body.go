package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// body reads the keys of the entities in the body of an insert or a transaction, and
// rewinds it. The bodies of aztables and of package patterns can be rewound.
func (r *Request) body(raw *http.Request) {
	body, ok := raw.Body.(io.ReadSeeker)
	if !ok {
		return
	}
	for kept, end := 0, false; !end && !r.complete(); {
		n, err := body.Read(r.window[kept:])
		end = err != nil
		window := r.window[:kept+n]
		kept = copy(window, r.take(window, end))
	}
	_, _ = body.Seek(0, io.SeekStart) // bytes in memory: never fails
}

// complete reports whether the rest of the body contains nothing that is asked for.
func (r *Request) complete() bool { return r.Kind == Write && !r.waits }

// take reads what is complete in the window and returns the rest.
func (r *Request) take(rest []byte, end bool) []byte {
	for len(rest) > 0 {
		if r.Kind == Batch && !r.each && r.Partition != (Span{}) {
			r.Entities += bytes.Count(rest, operationEnd)
			return rest[max(0, len(rest)-len(operationEnd)+1):]
		}
		i := -1
		if r.Kind == Batch {
			i = bytes.IndexByte(rest, '\n')
		}
		switch {
		case i >= 0:
			r.line(rest[:i])
			rest = rest[i+1:]
		case end:
			r.line(rest)
			return nil
		case len(rest) == len(r.window):
			// A key with the escapes of JSON is shorter than half of the window.
			r.line(rest)
			return rest[len(rest)/2:]
		default:
			return rest
		}
	}
	return nil
}

// operationEnd ends the line of an operation of a transaction.
var operationEnd = []byte(" HTTP/1.1\r\n")

// line reads a line of a transaction, or the JSON of an entity. JSON contains no end of a
// line, so only the line of an operation ends with its protocol.
func (r *Request) line(line []byte) {
	target, ok := bytes.CutSuffix(line, operationEnd[:len(operationEnd)-1])
	switch {
	case ok:
		target, _, _ = bytes.Cut(target[bytes.LastIndexByte(target, '/')+1:], []byte("?"))
		if bytes.IndexByte(target, '%') >= 0 {
			target = unescape(target)
		}
		name, keys, _ := bytes.Cut(target, []byte("("))
		if r.Entities == 0 {
			r.begin('t', string(name))
		}
		r.operation(keys)
	case r.waits:
		r.entity(line)
	}
}

// operation adds the row of PartitionKey='…',RowKey='…'). Without keys, it is an insert.
func (r *Request) operation(keys []byte) {
	text, addressed := bytes.CutPrefix(keys, []byte("PartitionKey="))
	r.waits = !addressed
	if !addressed {
		r.add(r.Resource) // until its key is found
		return
	}
	partition, rest := constant(text)
	if r.Partition == (Span{}) {
		r.Partition = extend(r, r.Resource, 0, partition)
	}
	if !r.each {
		r.add(r.Partition)
		return
	}
	row, _ := constant(bytes.TrimPrefix(rest, []byte(",RowKey=")))
	r.add(extend(r, r.Partition, 0, row))
}

// entity reads the keys in the JSON of an insert.
func (r *Request) entity(text []byte) {
	if r.Partition == (Span{}) {
		if key, ok := member(text, partitionName); ok {
			r.Partition = extend(r, r.Resource, 0, key)
		}
	}
	if !r.each {
		r.waits = r.Partition == (Span{})
	} else if key, ok := member(text, rowName); ok && r.Partition != (Span{}) {
		r.Rows[len(r.Rows)-1] = extend(r, r.Partition, 0, key)
		r.waits = false
	}
}

// The names of the keys in JSON, without the quote that precedes them: a rare byte is found
// faster. A quote within a value is escaped.
var partitionName, rowName = []byte(`PartitionKey":`), []byte(`RowKey":`)

// member returns the value of a string in JSON.
func member(text, name []byte) (value []byte, ok bool) {
	for {
		i := bytes.Index(text, name)
		if i < 0 {
			return nil, false
		}
		found := i > 0 && text[i-1] == '"'
		text = text[i+len(name):]
		if found {
			break
		}
	}
	text, ok = bytes.CutPrefix(bytes.TrimLeft(text, " "), []byte{'"'})
	for end := 0; ok; end++ {
		i := bytes.IndexByte(text[end:], '"')
		if i < 0 {
			return nil, false
		}
		end += i
		if value := text[:end]; (len(value)-len(bytes.TrimRight(value, `\`)))%2 == 0 {
			return unescapeJSON(value), true
		}
	}
	return nil, false
}

// unescapeJSON returns the value of the text of a JSON string. Few keys have escapes.
func unescapeJSON(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var value string
	_ = json.Unmarshal(fmt.Appendf(nil, "\"%s\"", text), &value) // the service refuses an invalid one
	return []byte(value)
}

// constant returns the value of the quoted constant at the start of text, and what follows
// it.
func constant(text []byte) (value, rest []byte) {
	if len(text) == 0 || text[0] != '\'' {
		return nil, nil
	}
	doubled, end := false, 1
	for {
		i := bytes.IndexByte(text[end:], '\'')
		if i < 0 {
			return nil, nil
		}
		if end += i + 1; end == len(text) || text[end] != '\'' {
			break
		}
		doubled = true
		end++
	}
	if value = text[1 : end-1]; doubled {
		value = bytes.ReplaceAll(value, doubledQuote, doubledQuote[:1])
	}
	return value, text[end:]
}

var doubledQuote = []byte("''")

// unescape replaces the percent encoding.
func unescape(text []byte) []byte {
	n := 0
	for i := 0; i < len(text); n++ {
		c, width := decoded(text, i, 0)
		text[n] = c
		i += width
	}
	return text[:n]
}

// decoded returns the byte at i, without the percent encoding, and the width of its code.
// The byte space means a space.
func decoded[S []byte | string](text S, i int, space byte) (c byte, width int) {
	switch c = text[i]; {
	case c == '%' && i+2 < len(text):
		high, low := text[i+1], text[i+2]
		return (high&15+high>>6*9)<<4 | (low&15 + low>>6*9), 3
	case c == space:
		return ' ', 1
	}
	return c, 1
}
