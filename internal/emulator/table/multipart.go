package table

import (
	"bufio"
	"bytes"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// A batch is a multipart/mixed body: either one part that is a GET, or one
// part that is a change set, itself multipart/mixed, with one part for each
// change. Every innermost part is a whole HTTP request.
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions

// request is one HTTP request inside a batch.
type request struct {
	method, target string
	header         http.Header
	body           []byte
	contentID      string
}

// parseBatch returns the requests of a batch, and whether they are changes.
func parseBatch(contentType string, body []byte) (requests []request, changes bool, err *rest.Error) {
	parts, err := parseParts(contentType, body)
	if err != nil {
		return nil, false, err
	}
	sets := 0
	for _, p := range parts {
		kind := p.header.Get("Content-Type")
		if !isMultipart(kind) {
			r, err := parseRequest(p)
			if err != nil {
				return nil, false, err
			}
			requests = append(requests, r)
			continue
		}
		if sets++; sets > 1 {
			return nil, false, errInvalidInput
		}
		inner, err := parseParts(kind, p.body)
		if err != nil {
			return nil, false, err
		}
		for _, q := range inner {
			r, err := parseRequest(q)
			if err != nil {
				return nil, false, err
			}
			requests = append(requests, r)
		}
	}
	if len(requests) == 0 || sets > 0 && len(parts) > 1 || sets == 0 && len(parts) > 1 {
		return nil, false, errInvalidInput
	}
	return requests, sets > 0, nil
}

func isMultipart(contentType string) bool {
	return len(contentType) >= 10 && strings.EqualFold(contentType[:10], "multipart/")
}

type part struct {
	header textproto.MIMEHeader
	body   []byte
}

// parseParts cuts a multipart body at its boundary.
// https://www.rfc-editor.org/rfc/rfc2046#section-5.1
func parseParts(contentType string, body []byte) ([]part, *rest.Error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/mixed" || params["boundary"] == "" || len(params["boundary"]) > 200 {
		return nil, errInvalidInput
	}
	delimiter := []byte("--" + params["boundary"])
	_, rest, last, ok := cutPart(body, delimiter)
	if !ok || last {
		return nil, errInvalidInput
	}
	var parts []part
	for !last {
		var raw []byte
		raw, rest, last, ok = cutPart(rest, delimiter)
		if !ok {
			return nil, errInvalidInput
		}
		p := part{}
		if p.header, p.body, ok = cutHeader(raw); !ok {
			return nil, errInvalidInput
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// cutPart returns what stands before the next delimiter line and what stands
// behind it; last says that it was the closing one.
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

// cutHeader takes a MIME header and the empty line behind it off b.
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

// parseRequest reads the HTTP request that a part is.
func parseRequest(p part) (request, *rest.Error) {
	if kind, _, _ := strings.Cut(p.header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/http") {
		return request{}, errInvalidInput
	}
	advance, line, _ := bufio.ScanLines(p.body, true)
	method, target, ok := strings.Cut(string(line), " ")
	if !ok {
		return request{}, errInvalidInput
	}
	target, protocol, ok := strings.Cut(target, " ")
	if !ok || !strings.HasPrefix(protocol, "HTTP/1.") {
		return request{}, errInvalidInput
	}
	h, body, ok := cutHeader(p.body[advance:])
	if !ok {
		return request{}, errInvalidInput
	}
	r := request{method: method, target: target, header: http.Header(h), body: body}
	if r.contentID = r.header.Get("Content-Id"); r.contentID == "" {
		r.contentID = p.header.Get("Content-Id")
	}
	return r, nil
}

// parseTarget reads the address that a request inside a batch names: absolute,
// or relative to the account.
func parseTarget(target, base string) (address, url.Values, *rest.Error) {
	u, err := url.Parse(target)
	if err != nil {
		return address{}, nil, errInvalidInput
	}
	path := u.Path
	if b, err := url.Parse(base); err == nil && b.Path != "" {
		if rest, ok := strings.CutPrefix(path, b.Path); ok && strings.HasPrefix(rest, "/") {
			path = rest
		}
	}
	a, refused := parseAddress(path)
	if refused != nil {
		return a, nil, refused
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return a, nil, errQueryParam
	}
	return a, q, nil
}
