package blob

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/reply"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/xmlservice"
)

// sourcePath returns the container and blob of x-ms-copy-source, which must be in the
// account.
func (c *call) sourcePath() (container, name string, e *reply.Error) {
	text := c.Header("X-Ms-Copy-Source")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || len(text) > 2<<10 {
		return "", "", reply.InvalidHeader("x-ms-copy-source", text)
	}
	base, err := url.Parse(c.Endpoint())
	if err != nil {
		return "", "", reply.InvalidHeader("x-ms-copy-source", text)
	}
	path, ok := strings.CutPrefix(u.Path, strings.TrimSuffix(base.Path, "/")+"/")
	if !ok || !strings.EqualFold(u.Host, base.Host) {
		return "", "", reply.New(http.StatusBadRequest, "CopyAcrossAccountsNotSupported", "The copy source account and destination account must be the same.")
	}
	if q := u.Query(); q.Has("snapshot") || q.Has("versionid") {
		return "", "", reply.NotImplemented("snapshots and versions")
	}
	container, name = request.SplitBlob(path)
	if request.CheckContainer(container) != nil || name == "" {
		return "", "", reply.InvalidHeader("x-ms-copy-source", text)
	}
	return container, name, nil
}

// sourceBlob returns the source after checking its conditions. The caller holds s.mu.
func (c *call) sourceBlob(container, name string, cond conditions) (*blob, *reply.Error) {
	var b *blob
	if ct := c.s.containers[container]; ct != nil {
		b = ct.get(name, c.Now)
	}
	if b == nil || !b.committed {
		return nil, reply.New(http.StatusNotFound, "CannotVerifyCopySource", "The specified blob does not exist.",
			"CopySourceStatusCode", "404", "CopySourceErrorCode", "BlobNotFound")
	}
	return b, cond.write(b.etag, b.modified)
}

// https://learn.microsoft.com/rest/api/storageservices/copy-blob and
// https://learn.microsoft.com/rest/api/storageservices/copy-blob-from-url
func (c *call) copyBlob() *reply.Error {
	fresh, cond, e := c.incoming("", false)
	if e != nil {
		return e
	}
	sourceCond, e := readConditions(c.Call, "X-Ms-Source-", false)
	if e != nil {
		return e
	}
	container, name, e := c.sourcePath()
	if e != nil {
		return e
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	src, e := c.sourceBlob(container, name, sourceCond)
	if e != nil {
		return e
	}
	fresh.take(src)
	fresh.sealed = src.kind == appendBlob && c.Header("X-Ms-Seal-Blob") == "true"
	fresh.copied = &copied{id: uuid.NewString(), source: c.Header("X-Ms-Copy-Source"), size: src.size(), done: c.Now}
	sync := c.Header("X-Ms-Requires-Sync") == "true"
	e = c.replace(cond, fresh, func(b *blob) *reply.Error {
		if b != nil && !sync && b.lease.locked(c.Now) && b.lease.duration != forever {
			return reply.New(http.StatusPreconditionFailed, "InfiniteLeaseDurationRequired", "The lease ID matched, but the specified lease must be an infinite-duration lease.")
		}
		return nil
	})
	if e != nil {
		return e
	}
	c.Set("X-Ms-Copy-Id", fresh.copied.id)
	c.Set("X-Ms-Copy-Status", "success")
	c.Empty(http.StatusAccepted)
	return nil
}

// take copies the content, the headers and, unless the request sets its own, the metadata.
func (b *blob) take(src *blob) {
	b.kind, b.head = src.kind, src.head
	b.blocks = slices.Clip(src.blocks) // so that an append to either does not change the other
	if b.meta == nil {
		b.meta = src.meta
	}
}

// https://learn.microsoft.com/rest/api/storageservices/put-blob-from-url
func (c *call) putFromURL() *reply.Error {
	if c.ContentLength > 0 {
		return reply.InvalidHeader("Content-Length", itoa(c.ContentLength))
	}
	fresh, cond, e := c.incoming(blockBlob, false)
	if e != nil {
		return e
	}
	own, meta := fresh.head, fresh.meta
	keep := c.Header("X-Ms-Copy-Source-Blob-Properties") != "false"
	data, src, e := c.source(maxOneShot(c.Version))
	if e != nil {
		return e
	}
	if keep {
		fresh.head = override(src.head, own, c.Header("X-Ms-Blob-Content-Type") != "")
	}
	if fresh.meta = meta; meta == nil {
		fresh.meta = src.meta
	}
	fresh.head.md5 = xmlservice.MD5(data)
	if own.md5 != "" && own.md5 != fresh.head.md5 {
		return xmlservice.CheckMD5(own.md5, data)
	}
	if len(data) > 0 {
		fresh.blocks = contentOf([]block{{data: data}})
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	if e := c.replace(cond, fresh, nil); e != nil {
		return e
	}
	c.Set("Content-Md5", fresh.head.md5)
	c.created()
	return nil
}

// override returns the source's headers, replaced by those that the request sets.
func override(from, own contentHeaders, typed bool) contentHeaders {
	pick := func(own, from string) string {
		if own != "" {
			return own
		}
		return from
	}
	h := contentHeaders{
		contentType: from.contentType, encoding: pick(own.encoding, from.encoding), language: pick(own.language, from.language),
		cacheControl: pick(own.cacheControl, from.cacheControl), disposition: pick(own.disposition, from.disposition),
	}
	if typed {
		h.contentType = own.contentType
	}
	return h
}

// sourceContent returns the content of Put Block From URL and Append Block From URL.
func (c *call) sourceContent(limit int64) ([]byte, *reply.Error) {
	if c.ContentLength > 0 {
		return nil, reply.InvalidHeader("Content-Length", itoa(c.ContentLength))
	}
	data, _, e := c.source(limit)
	if e == nil && len(data) == 0 {
		e = reply.New(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is invalid for the current size of the resource.")
	}
	return data, e
}

// source returns the verified content of the source blob, or its x-ms-source-range, and a
// copy of the blob at the same time.
func (c *call) source(limit int64) ([]byte, blob, *reply.Error) {
	var none blob
	cond, e := readConditions(c.Call, "X-Ms-Source-", false)
	if e != nil {
		return nil, none, e
	}
	container, name, e := c.sourcePath()
	if e != nil {
		return nil, none, e
	}
	var asked *span
	if text := c.Header("X-Ms-Source-Range"); text != "" {
		s, ok := parseSpan(text)
		if !ok {
			return nil, none, reply.InvalidHeader("x-ms-source-range", text)
		}
		asked = &s
	}
	c.Lock(&c.s.mu)
	src, e := c.sourceBlob(container, name, cond)
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
	return data, was, c.Verify(data, "X-Ms-Source-Content-Md5", "X-Ms-Source-Content-Crc64")
}

// https://learn.microsoft.com/rest/api/storageservices/abort-copy-blob
func (c *call) abortCopy() *reply.Error {
	if action := c.Header("X-Ms-Copy-Action"); action != "abort" {
		return reply.InvalidHeader("x-ms-copy-action", action)
	}
	if c.Query.Get("copyid") == "" {
		return reply.MissingQuery("copyid")
	}
	return c.onBlob(func(*container, *blob) *reply.Error {
		return conflict("NoPendingCopyOperation", "There is currently no pending copy operation.")
	})
}
