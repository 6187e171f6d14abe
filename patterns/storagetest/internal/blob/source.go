package blob

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// copySource is what the headers of a copy specify about its source.
type copySource struct {
	read  *request.Request // of the source, which is in the same account
	cond  conditions
	byURL bool // it is read by its URL, not within the account
	tags  bool // its tags are copied, too
}

// readSource reads the headers of a copy, and verifies the credential of its source. If byURL
// is false, the owner of the account needs none.
func (c *call) readSource(byURL bool) (s copySource, e *reply.Error) {
	s.byURL = byURL
	if s.cond, e = readConditions(c.Call, ofSource, false); e != nil {
		return s, e
	}
	if s.read, e = c.sourceRequest(); e != nil {
		return s, e
	}
	switch option := c.Header("X-Ms-Copy-Source-Tag-Option"); {
	case !byURL: // it does not have this header
	case option == "COPY" && c.Header("X-Ms-Tags") != "":
		return s, reply.InvalidHeader("x-ms-tags", c.Header("X-Ms-Tags"), "the tags are those of the source, with COPY")
	case option == "COPY":
		s.tags = true
	case option != "" && option != "REPLACE":
		return s, reply.InvalidHeader("x-ms-copy-source-tag-option", option, "COPY or REPLACE")
	}
	signed := s.read.Header.Get("Authorization") != "" || s.read.Query.Has("sig")
	if byURL || signed || c.Header("Authorization") == "" {
		if e := c.s.permit(s.read); e != nil {
			return s, cannotVerify(e, e.Status)
		}
	}
	return s, nil
}

// sourceRequest returns the request with which the service reads x-ms-copy-source.
func (c *call) sourceRequest() (*request.Request, *reply.Error) {
	text := c.Header("X-Ms-Copy-Source")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || len(text) > 2<<10 {
		return nil, reply.InvalidHeader("x-ms-copy-source", text, "an absolute address of at most 2 KiB")
	}
	r := c.Within(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
	base, err := url.Parse(c.Base)
	if err != nil || !strings.EqualFold(u.Host, base.Host) || r.Account != c.Account {
		return nil, reply.New(http.StatusBadRequest, "CopyAcrossAccountsNotSupported", "The copy source account and destination account must be the same.").Because("x-ms-copy-source: a blob of this account, at the host of the request")
	}
	if v := c.Header("X-Ms-Copy-Source-Authorization"); v != "" {
		r.Header.Set("Authorization", v)
	}
	if r.Refusal != nil && r.Refusal.Status == http.StatusNotImplemented {
		return nil, r.Refusal
	}
	if r.Refusal != nil || r.Op != op.BlobGet {
		return nil, reply.InvalidHeader("x-ms-copy-source", text, "the address of a blob")
	}
	return r, nil
}

// cannotVerify returns the reply to a copy whose source was refused with e.
func cannotVerify(e *reply.Error, status int) *reply.Error {
	return reply.New(status, "CannotVerifyCopySource", e.Message,
		"CopySourceStatusCode", strconv.Itoa(e.Status), "CopySourceErrorCode", e.Code, "CopySourceErrorMessage", e.Message)
}

// sourceBlob returns the source after checking its conditions. The caller holds s.mu.
func (c *call) sourceBlob(s copySource) (*blob, *reply.Error) {
	var b *blob
	if ct := c.s.containers[s.read.Resource]; ct != nil {
		b = ct.get(s.read.Name, c.Now).snapshotOf(s.read.Query.Get("snapshot"))
	}
	if b == nil || !b.committed {
		return nil, cannotVerify(noBlob(), http.StatusNotFound)
	}
	e := s.cond.write(b.etag, b.modified)
	if e != nil && s.byURL && (s.cond.noneMatch != nil || !s.cond.modified.IsZero()) {
		// The source itself replies with 304.
		e.Status = http.StatusNotModified
		e = cannotVerify(e, http.StatusPreconditionFailed)
	}
	return b, e
}

// sourceContent returns the content of Put Block From URL and Append Block From URL.
func (c *call) sourceContent(limit int64) ([]byte, *reply.Error) {
	if c.ContentLength > 0 {
		return nil, reply.InvalidHeader("Content-Length", itoa(c.ContentLength), "a copy has no body")
	}
	s, e := c.readSource(true)
	if e != nil {
		return nil, e
	}
	data, _, e := c.source(s, limit)
	if e == nil && len(data) == 0 {
		e = reply.New(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is invalid for the current size of the resource.")
	}
	return data, e
}

// source returns the verified content of the source blob, or its x-ms-source-range, and a
// copy of the blob at the same time.
func (c *call) source(s copySource, limit int64) ([]byte, blob, *reply.Error) {
	var none blob
	var asked *span
	if text := c.Header("X-Ms-Source-Range"); text != "" {
		s, ok := parseSpan(text)
		if !ok {
			return nil, none, reply.InvalidHeader("x-ms-source-range", text, "bytes=from-to")
		}
		asked = &s
	}
	c.Lock(&c.s.mu)
	src, e := c.sourceBlob(s)
	if e != nil {
		c.s.mu.Unlock()
		return nil, none, e
	}
	was := *src
	c.s.mu.Unlock()
	from, to, e := asked.within(was.size())
	if e != nil {
		return nil, none, e
	}
	if to-from > limit {
		return nil, none, reply.TooLarge(limit)
	}
	parts := was.slice(from, to)
	var data []byte
	if len(parts) == 1 {
		data = parts[0]
	} else {
		data = bytes.Join(parts, nil)
	}
	return data, was, c.verifySource(data)
}

// verifySource checks the content of the source against the checksums of the request.
func (c *call) verifySource(data []byte) *reply.Error {
	e := c.Verify(data, "X-Ms-Source-Content-Md5", "X-Ms-Source-Content-Crc64")
	if e != nil && e.Code == "Md5Mismatch" && c.Op == op.BlobAppend {
		e.Detail = nil // as in recordings of the service
	}
	return e
}
