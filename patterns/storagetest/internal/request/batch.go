package request

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
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
	// Changes reports that the parts are a change set, which may be empty. Otherwise there is one part, a point
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
		if !strings.HasPrefix(strings.ToLower(kind), "multipart/") {
			if refusal := b.add(whole, p); refusal != nil {
				return refusal
			}
			continue
		}
		if b.Changes {
			return ErrInvalidInput.Because("a batch has one change set")
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
	if len(b.Parts) == 0 && !b.Changes || len(outer) > 1 {
		return ErrInvalidInput.Because("a batch is one change set or one point read")
	}
	return nil
}

// Part is a part of a multipart body.
type Part struct {
	Header textproto.MIMEHeader
	Body   []byte
}

// SplitParts splits a multipart body at its boundary. There may be no parts.
// https://www.rfc-editor.org/rfc/rfc2046#section-5.1
func SplitParts(contentType string, body []byte) ([]Part, *reply.Error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/mixed" || params["boundary"] == "" || len(params["boundary"]) > 200 {
		return nil, ErrInvalidInput.Because("Content-Type: not multipart/mixed with a boundary of at most 200 characters")
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	var parts []Part
	for {
		p, err := r.NextRawPart()
		if err == io.EOF { // which is wrapped if the last boundary is missing
			return parts, nil
		}
		if err != nil {
			return nil, ErrInvalidInput.Because("a part of the batch is malformed, or its last boundary is missing")
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, ErrInvalidInput.Because("a part of the batch ends early")
		}
		parts = append(parts, Part{p.Header, content})
	}
}

// add parses a part, which is an HTTP request, and adds it.
func (b *Batch) add(whole *Request, p Part) *reply.Error {
	if kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/http") {
		return ErrInvalidInput.Because("Content-Type of a part: not application/http")
	}
	in := textproto.NewReader(bufio.NewReader(bytes.NewReader(p.Body)))
	line, _ := in.ReadLine()
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		return ErrInvalidInput.Because("a part does not begin with a request line")
	}
	target, protocol, ok := strings.Cut(target, " ")
	if !ok || !strings.HasPrefix(protocol, "HTTP/1.") {
		return ErrInvalidInput.Because("a part does not begin with a request line")
	}
	h, err := in.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // a request without a body may end with its header
		return ErrInvalidInput.Because("a part has a malformed header")
	}
	body, _ := io.ReadAll(in.R) // it is in memory
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
			return ErrInvalidInput.Because("outside of a change set only one point read is permitted")
		}
		r.Op = op.TableGet
		return nil
	}
	if a.Name == "" || a.Name == "$batch" || a.isTables() || a.Parens && !a.Keyed {
		return ErrInvalidInput.Because("an operation of a change set is on rows")
	}
	var refusal *reply.Error
	if r.Verb, refusal = verbOf(r.Method, r.Header); refusal != nil {
		return refusal
	}
	if r.Verb == http.MethodGet {
		return ErrInvalidInput.Because("a change set consists of changes")
	}
	r.Op, refusal = tableWriteOp(r.Verb, a, r.Header.Get("If-Match") != "")
	if r.Op == op.TableInsert {
		r.insertedRow()
	}
	return refusal
}
