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
	for kept, end := 0, false; !end && (r.waits || r.Kind == Batch); {
		n, err := body.Read(r.window[kept:])
		end = err != nil
		rest := r.window[:kept+n]
		if r.Kind == Batch {
			rest = r.lines(rest)
		}
		if end || r.Kind != Batch || len(rest) == len(r.window) {
			r.entity(rest)
		}
		if len(rest) == len(r.window) { // A key with the escapes of JSON is shorter than half of it.
			rest = rest[len(rest)/2:]
		}
		kept = copy(r.window[:], rest)
	}
	_, _ = body.Seek(0, io.SeekStart) // bytes in memory: never fails
}

// The shortest text in front of the first line of an operation, after the line of a boundary.
const partHead = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"

var protocol = []byte(" HTTP/1.1\r")

// lines reads the complete lines of a transaction, and returns the rest. JSON contains no end
// of a line, so only the first line of an operation ends with its protocol. A part head
// follows a boundary, and precedes the next operation: so much is skipped unread.
func (r *Request) lines(text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return text
		}
		line, skip := text[:i], 0
		switch {
		case i > 1 && line[0] == '-' && line[1] == '-':
			skip = len(partHead)
		case i > 1 && line[i-2] == '1' && bytes.HasSuffix(line, protocol):
			if r.operationLine(line[:i-len(protocol)]); !r.waits {
				skip = len(partHead)
			}
		case r.waits:
			r.entity(line)
		}
		text = text[min(i+1+skip, len(text)):]
	}
}

// maxRows is how many rows of a transaction are counted by their keys. Of more, every second,
// fourth, eighth or sixteenth is counted, with the load of those after it.
const maxRows = 8

// operationLine reads the first line of an operation.
func (r *Request) operationLine(line []byte) {
	i := r.Entities
	r.Entities++
	r.waits = false
	if i == maxRows*r.Every {
		r.Every *= 2
		for j := range maxRows / 2 {
			r.Rows[j] = r.Rows[2*j]
		}
		r.Rows = r.Rows[:maxRows/2]
	}
	if i%r.Every != 0 {
		return
	}
	target, _, _ := bytes.Cut(line, []byte("?"))
	before, keys, _ := bytes.Cut(target, []byte("("))
	if i == 0 {
		begin(r, 't', before[bytes.LastIndexByte(before, '/')+1:])
	}
	operation(r, keys, inPath)
}

// operation adds the row of PartitionKey='…',RowKey='…'). Without keys, it is an insert.
func operation[S []byte | string](r *Request, keys S, f form) {
	if r.waits = len(keys) < 2; r.waits {
		r.Rows = append(r.Rows, r.Resource) // until its key is found
		return
	}
	keys, quote := afterQuote(keys)
	partition, keys := next(keys, quote)
	if r.Partition == (TextSpan{}) {
		r.Partition = below(r, r.Resource, partition, f)
	}
	keys, _ = afterQuote(keys[quoteAt(keys, 0):])
	row, _ := next(keys, quote)
	r.Rows = append(r.Rows, below(r, r.Partition, row, f))
}

// entity reads the keys in the JSON of an insert.
func (r *Request) entity(text []byte) {
	if !r.waits {
		return
	}
	if r.Partition == (TextSpan{}) {
		if key, ok := member(text, partitionName); ok {
			r.Partition = extend(r, r.Resource, 0, key)
		}
	}
	if key, ok := member(text, rowName); ok && r.Partition != (TextSpan{}) {
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
