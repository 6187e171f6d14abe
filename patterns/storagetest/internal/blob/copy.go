package blob

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// https://learn.microsoft.com/rest/api/storageservices/copy-blob and
// https://learn.microsoft.com/rest/api/storageservices/copy-blob-from-url
func (c *call) copyBlob() *reply.Error {
	if c.Header("X-Ms-Blob-Type") == blockBlob {
		return c.putFromURL()
	}
	fresh, cond, e := c.incoming("", false)
	if e != nil {
		return e
	}
	sync := strings.EqualFold(c.Header("X-Ms-Requires-Sync"), "true")
	from, e := c.readSource(sync)
	if e != nil {
		return e
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	src, e := c.sourceBlob(from)
	if e != nil {
		return e
	}
	if sync && c.Header("X-Ms-Source-Content-Md5") != "" {
		if e := c.verifySource(bytes.Join(src.slice(0, src.size()), nil)); e != nil {
			return e
		}
	}
	fresh.take(src)
	if from.tags {
		fresh.tags = src.tags
	}
	fresh.sealed = src.kind == appendBlob && c.Header("X-Ms-Seal-Blob") == "true"
	fresh.copied = &copied{id: uuid.NewString(), source: c.Header("X-Ms-Copy-Source"), size: src.size(), done: c.Now}
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
	if sync {
		c.Set("Content-Md5", fresh.head.md5)
	}
	return c.Empty(http.StatusAccepted)
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
		return reply.InvalidHeader("Content-Length", itoa(c.ContentLength), "a copy has no body")
	}
	fresh, cond, e := c.incoming(blockBlob, false)
	if e != nil {
		return e
	}
	own, meta := fresh.head, fresh.meta
	keep := c.Header("X-Ms-Copy-Source-Blob-Properties") != "false"
	from, e := c.readSource(true)
	if e != nil {
		return e
	}
	data, src, e := c.source(from, maxOneShot(c.Version))
	if e != nil {
		return e
	}
	if from.tags {
		fresh.tags = src.tags
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
	return c.created()
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

// https://learn.microsoft.com/rest/api/storageservices/abort-copy-blob
func (c *call) abortCopy() *reply.Error {
	if action := c.Header("X-Ms-Copy-Action"); action != "abort" {
		return reply.InvalidHeader("x-ms-copy-action", action, "abort")
	}
	id := c.Query.Get("copyid")
	if id == "" {
		return reply.MissingQuery("copyid")
	}
	if _, err := uuid.Parse(id); err != nil {
		return reply.InvalidQuery("copyid", id, "Not an id of a copy.")
	}
	return c.onBlob(func(*container, *blob) *reply.Error {
		return conflict("NoPendingCopyOperation", "There is currently no pending copy operation.")
	})
}
