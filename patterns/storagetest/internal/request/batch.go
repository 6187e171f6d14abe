package request

import (
	"bufio"
	"bytes"
	"mime"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// A batch is a multipart/mixed body with one part, which is either a GET or a change set. A
// change set is multipart/mixed, too, with one part for each change. Every innermost part is
// a complete HTTP request.
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions

// Batch is the parsed body of an entity group transaction.
type Batch struct {
	// Parts are its operations, of the same account as the batch.
	Parts []*Request
	// IDs are their content ids, "" if a part has none.
	IDs []string
	// Changes reports that the parts are a change set. Otherwise there is one part, a point
	// read.
	Changes bool
	// Refusal is the reply if the body is malformed, otherwise nil.
	Refusal *reply.Error
}

// parseBatch parses the body, and sets the table and the rows that the operations
// name.
func (r *Request) parseBatch() {
	r.Batch, r.Resource = &Batch{}, ""
	body, refusal := r.Body(MaxTableBody)
	if refusal == nil {
		refusal = r.Batch.parse(r, body)
	}
	r.Batch.Refusal = refusal
	for i, part := range r.Batch.Parts {
		if i == 0 {
			r.Resource = part.Resource
		}
		r.Rows = append(r.Rows, part.Rows...)
	}
}

func (b *Batch) parse(whole *Request, body []byte) *reply.Error {
	outer, refusal := SplitParts(whole.Header.Get("Content-Type"), body)
	if refusal != nil {
		return refusal
	}
	for _, p := range outer {
		kind := p.Header.Get("Content-Type")
		if !isMultipart(kind) {
			if refusal := b.add(whole, p); refusal != nil {
				return refusal
			}
			continue
		}
		if b.Changes {
			return ErrInvalidInput
		}
		b.Changes = true
		inner, refusal := SplitParts(kind, p.Body)
		if refusal != nil {
			return refusal
		}
		for _, q := range inner {
			if refusal := b.add(whole, q); refusal != nil {
				return refusal
			}
		}
	}
	if len(b.Parts) == 0 || len(outer) > 1 {
		return ErrInvalidInput
	}
	return nil
}

func isMultipart(contentType string) bool {
	return len(contentType) >= 10 && strings.EqualFold(contentType[:10], "multipart/")
}

// Part is a part of a multipart body.
type Part struct {
	Header textproto.MIMEHeader
	Body   []byte
}

// SplitParts splits a multipart body at its boundary.
// https://www.rfc-editor.org/rfc/rfc2046#section-5.1
func SplitParts(contentType string, body []byte) ([]Part, *reply.Error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/mixed" || params["boundary"] == "" || len(params["boundary"]) > 200 {
		return nil, ErrInvalidInput
	}
	delimiter := []byte("--" + params["boundary"])
	_, rest, last, ok := cutPart(body, delimiter)
	if !ok || last {
		return nil, ErrInvalidInput
	}
	var parts []Part
	for !last {
		var raw []byte
		raw, rest, last, ok = cutPart(rest, delimiter)
		if !ok {
			return nil, ErrInvalidInput
		}
		p := Part{}
		if p.Header, p.Body, ok = cutHeader(raw); !ok {
			return nil, ErrInvalidInput
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// cutPart splits b at the next delimiter line. last reports whether it is the closing one.
func cutPart(b, delimiter []byte) (before, after []byte, last, ok bool) {
	for at := 0; ; {
		i := bytes.Index(b[at:], delimiter)
		if i < 0 {
			return nil, nil, false, false
		}
		i += at
		at = i + len(delimiter)
		if i > 0 && b[i-1] != '\n' {
			continue
		}
		line := b[at:]
		end := bytes.IndexByte(line, '\n')
		after := []byte(nil)
		if end >= 0 {
			line, after = line[:end], line[end+1:]
		}
		line, last := bytes.CutPrefix(line, []byte("--"))
		if len(bytes.TrimRight(line, " \t\r")) > 0 || end < 0 && !last {
			continue
		}
		before := bytes.TrimSuffix(bytes.TrimSuffix(b[:i], []byte("\n")), []byte("\r"))
		return before, after, last, true
	}
}

// cutHeader returns the MIME header at the start of b, and the bytes after the empty line that ends it.
func cutHeader(b []byte) (textproto.MIMEHeader, []byte, bool) {
	h := make(textproto.MIMEHeader, 4)
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			return h, rest, true
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !validName(name) {
			return nil, nil, false
		}
		key := textproto.CanonicalMIMEHeaderKey(string(name))
		h[key] = append(h[key], string(bytes.TrimSpace(value)))
		if !found {
			return h, nil, true
		}
		b = rest
	}
}

func validName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7F || bytes.IndexByte([]byte(`"(),/:;<=>?@[\]{}`), c) >= 0 {
			return false
		}
	}
	return len(name) > 0
}

// add parses a part, which is an HTTP request, and adds it.
func (b *Batch) add(whole *Request, p Part) *reply.Error {
	if kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/http") {
		return ErrInvalidInput
	}
	advance, line, _ := bufio.ScanLines(p.Body, true)
	method, target, ok := strings.Cut(string(line), " ")
	if !ok {
		return ErrInvalidInput
	}
	target, protocol, ok := strings.Cut(target, " ")
	if !ok || !strings.HasPrefix(protocol, "HTTP/1.") {
		return ErrInvalidInput
	}
	h, body, ok := cutHeader(p.Body[advance:])
	if !ok {
		return ErrInvalidInput
	}
	id := h.Get("Content-Id")
	if id == "" {
		id = p.Header.Get("Content-Id")
	}
	r := &Request{
		Service: op.Table, Op: op.TableOther, Method: method, Header: http.Header(h),
		Account: whole.Account, Base: whole.Base, Result: whole.Result, buffered: &buffered{b: body},
	}
	r.Refusal = r.parseInBatch(target, b.Changes)
	b.Parts, b.IDs = append(b.Parts, r), append(b.IDs, id)
	return nil
}

// parseInBatch parses an operation that is sent to target; change reports that it is
// in a change set.
func (r *Request) parseInBatch(target string, change bool) *reply.Error {
	if refusal := r.parseTarget(target); refusal != nil {
		return refusal
	}
	if r.Method == http.MethodPost && !r.Address.Keyed {
		r.Address.Parens = false // some clients insert at People()
	}
	a := r.Address
	if !change {
		if r.Verb = r.Method; r.Verb != http.MethodGet || !a.Keyed || a.isTables() {
			return ErrInvalidInput
		}
		r.Op = op.TableGet
		return nil
	}
	if a.Name == "" || a.Name == "$batch" || a.isTables() || a.Parens && !a.Keyed {
		return ErrInvalidInput
	}
	var refusal *reply.Error
	if r.Verb, refusal = verbOf(r.Method, r.Header); refusal != nil {
		return refusal
	}
	if r.Verb == http.MethodGet {
		return ErrInvalidInput // a change set consists of changes
	}
	r.Op, refusal = tableWriteOp(r.Verb, a, r.Header.Get("If-Match") != "")
	if r.Op == op.TableInsert {
		r.insertedRow()
	}
	return refusal
}
