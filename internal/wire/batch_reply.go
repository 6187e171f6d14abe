package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// batchReply is the parsed reply to a transaction: the ETags of all operations, or the
// failure of one.
type batchReply struct {
	etags   []string
	failure *partFailure
	resp    *http.Response
}

type partFailure struct {
	index, status int
	code          string
}

// cannedBatchReply replaces a reply that the policy has read already: an empty changeset,
// which aztables treats as success.
var cannedBatchReply = []byte("--b\r\n\r\n--c--\r\n\r\n--b--\r\n")

// parseBatchReply parses the reply to the transaction of writes. The outer status is 202
// for success and failure alike; the parts have their own. A truncated reply is an error,
// even if every part that arrived is a success.
func parseBatchReply(contentType string, body []byte, writes []*Write) (batchReply, error) {
	n := len(writes)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte{'{'}) { // the refusal of the transaction as a whole
		return failedPart(batchPart{status: http.StatusBadRequest, body: body}, n)
	}
	_, outer, ok := strings.Cut(contentType, "boundary=")
	if !ok {
		return batchReply{}, malformed("no boundary in the content type")
	}
	outer, _, _ = strings.Cut(outer, ";")
	p := parts{lines: lines{text: body}}
	if !p.skipTo("--" + strings.Trim(outer, `" `)) {
		return batchReply{}, malformed("outer boundary missing")
	}
	var inner []byte
	for {
		line, ok := p.next()
		if !ok {
			return batchReply{}, malformed("cut in the headers")
		}
		if len(line) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); equalFold(name, "content-type") {
			_, b, _ := bytes.Cut(value, []byte("boundary="))
			b, _, _ = bytes.Cut(b, []byte(";"))
			inner = bytes.Trim(b, `" `)
		}
	}
	if len(inner) == 0 {
		return batchReply{}, malformed("inner boundary missing")
	}
	var etags textBuffer
	etags.ends = make([]int, 0, n)
	p.end = slices.Concat([]byte("--"), inner, []byte("--"))
	p.open = p.end[:len(p.end)-len("--")]
	line, ok := p.next()
	for {
		if !ok {
			return batchReply{}, malformed("cut between the parts")
		}
		if bytes.Equal(line, p.end) {
			break
		}
		if !bytes.Equal(line, p.open) {
			if len(line) != 0 {
				return batchReply{}, malformed("boundary expected")
			}
			line, ok = p.next()
			continue
		}
		part, next, complete := p.read()
		if part.status >= http.StatusBadRequest {
			return failedPart(part, n)
		}
		if !complete {
			return batchReply{}, malformed("cut inside a part")
		}
		if part.status/100 != 2 {
			return batchReply{}, malformed(fmt.Sprintf("status %d of a part", part.status))
		}
		etags.add(part.etag)
		line, ok = next, true
	}
	if len(etags.ends) != n {
		return batchReply{}, malformed(fmt.Sprintf("%d parts for %d operations", len(etags.ends), n))
	}
	reply := batchReply{etags: etags.strings()}
	for i, w := range writes {
		if w.Kind == Delete {
			reply.etags[i] = ""
		} else if err := azerr.CheckVersion(reply.etags[i]); err != nil {
			return batchReply{}, err
		}
	}
	return reply, nil
}

// textBuffer collects short texts, to convert them to strings in one allocation.
type textBuffer struct {
	text []byte
	ends []int
}

func (s *textBuffer) add(text []byte) {
	if s.text == nil {
		s.text = make([]byte, 0, (len(text)+8)*cap(s.ends))
	}
	s.text = append(s.text, text...)
	s.ends = append(s.ends, len(s.text))
}

func (s *textBuffer) strings() []string {
	all, start := string(s.text), 0
	list := make([]string, len(s.ends))
	for i, end := range s.ends {
		list[i], start = all[start:end], end
	}
	return list
}

type batchPart struct {
	status int
	etag   []byte
	body   []byte
}

// parts reads the parts of a changeset. Most of them begin with the same lines: head are
// those of the last two parts, up to the ETag. A part that begins with head, too, is read
// from there on.
type parts struct {
	lines
	open, end []byte // boundary lines
	last      []byte // the lines of the last part up to its ETag
	head      []byte // includes the status line, unless it is empty
	status    int    // in head
}

// read reads one part after its boundary. next is the boundary line that ended it. complete
// is false if the reply ended before that, or if the part has no HTTP status.
func (p *parts) read() (q batchPart, next []byte, complete bool) {
	start, known := p.at, len(p.head) > 0 && bytes.HasPrefix(p.text[p.at:], p.head)
	status, first := p.status, 0
	if known {
		p.at += len(p.head)
	} else if status, known = p.statusLine(); !known {
		return q, nil, false
	} else {
		first, known = p.at-start, false
	}
	end := 0 // of the lines that the next part may begin with
	for {    // HTTP headers
		at := p.at
		line, ok := p.next()
		if !ok {
			return q, nil, false
		}
		etag := len(line) > 4 && line[4] == ':' && equalFold(line[:4], "etag")
		if end == 0 && (etag || len(line) == 0) {
			end = at
		}
		if len(line) == 0 {
			break
		}
		if etag {
			q.etag = bytes.TrimSpace(line[5:])
		}
	}
	if !known {
		this := p.text[start:end]
		if p.head = commonLines(p.last, this); len(p.head) < first {
			p.head = nil
		}
		p.last, p.status = this, status
	}
	q.status = status
	body := p.at
	for {
		at := p.at
		line, ok := p.next()
		if !ok {
			q.body = p.text[body:]
			return q, nil, false
		}
		if bytes.Equal(line, p.open) || bytes.Equal(line, p.end) {
			q.body = bytes.TrimSpace(p.text[body:at])
			return q, line, true
		}
	}
}

// statusLine reads the MIME headers of a part and its HTTP status.
func (p *parts) statusLine() (status int, ok bool) {
	if !p.skipTo("") {
		return 0, false
	}
	line, ok := p.next()
	if !ok || len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, false
	}
	status, err := strconv.Atoi(string(line[9:12]))
	return status, err == nil && status >= 100
}

// commonLines returns the lines that a and b both begin with.
func commonLines(a, b []byte) []byte {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return b[:bytes.LastIndexByte(b[:n], '\n')+1]
}

// failedPart parses the error of the operation that failed. Its message begins with the
// operation's index and a colon.
func failedPart(p batchPart, n int) (batchReply, error) {
	var e struct {
		Error struct {
			Code    string `json:"code"`
			Message struct {
				Value string `json:"value"`
			} `json:"message"`
		} `json:"odata.error"`
	}
	body := p.body
	if brace := bytes.LastIndexByte(body, '}'); brace >= 0 {
		body = body[:brace+1] // a reply may end within its last boundary
	}
	if err := json.Unmarshal(body, &e); err != nil || e.Error.Code == "" {
		return batchReply{}, malformed("error of the failed operation unreadable")
	}
	f := &partFailure{index: -1, status: p.status, code: e.Error.Code}
	if digits, _, ok := strings.Cut(e.Error.Message.Value, ":"); ok {
		if i, err := strconv.Atoi(digits); err == nil && i >= 0 && i < n {
			f.index = i
		}
	}
	return batchReply{failure: f}, nil
}

func malformed(what string) error {
	return azerr.Errorf("%w: %w: %s", azerr.ErrBadReply, errBatchReply, what)
}

// lines iterates over lines that end in CR LF or LF. The last line needs no end.
type lines struct {
	text []byte
	at   int // of the next line
}

func (l *lines) next() (line []byte, ok bool) {
	if l.at == len(l.text) {
		return nil, false
	}
	line = l.text[l.at:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	l.at = min(l.at+len(line)+1, len(l.text))
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		line = line[:n]
	}
	return line, true
}

func (l *lines) skipTo(boundary string) bool {
	for line, ok := l.next(); ok; line, ok = l.next() {
		if string(line) == boundary {
			return true
		}
	}
	return false
}

func equalFold(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}
