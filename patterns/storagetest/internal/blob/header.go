package blob

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// contentHeaders are the HTTP headers that are stored with a blob.
type contentHeaders struct {
	contentType, encoding, language, md5, cacheControl, disposition string
}

const defaultType = "application/octet-stream"

// readContentHeaders reads the x-ms-blob- headers. If plain is true, it falls back to
// the request's own headers, as Put Blob does.
func (c *call) readContentHeaders(plain bool) (h contentHeaders, e *reply.Error) {
	read := func(name, own string) string {
		if v := c.Header("X-Ms-Blob-" + name); v != "" || !plain {
			return v
		}
		return c.Header(own)
	}
	h = contentHeaders{
		contentType:  read("Content-Type", "Content-Type"),
		encoding:     read("Content-Encoding", "Content-Encoding"),
		language:     read("Content-Language", "Content-Language"),
		cacheControl: read("Cache-Control", "Cache-Control"),
		disposition:  c.Header("X-Ms-Blob-Content-Disposition"),
		md5:          c.Header("X-Ms-Blob-Content-Md5"),
	}
	if h.md5 != "" {
		if raw, err := base64.StdEncoding.DecodeString(h.md5); err != nil || len(raw) != md5.Size {
			return h, reply.New(http.StatusBadRequest, "InvalidMd5", "The MD5 value specified in the request is invalid. MD5 value must be 128 bits and base64 encoded.").Because("x-ms-blob-content-md5: 16 bytes in base64")
		}
	}
	return h, nil
}

// describe implements Get Blob Properties and Get Blob Metadata.
// https://learn.microsoft.com/rest/api/storageservices/get-blob-properties
func (c *call) describe() *reply.Error {
	cond, e := readConditions(c.Call, "", true)
	if e != nil {
		return e
	}
	return c.onBlob(func(_ *container, b *blob) *reply.Error {
		if e := c.readable(cond, b); e != nil {
			return e
		}
		c.Count(1, 0)
		c.Stamp(b.etag, b.modified)
		b.meta.Headers(c.W.Header())
		if c.Query.Get("comp") == "metadata" {
			return c.Empty(http.StatusOK)
		}
		c.blobHeaders(b)
		c.Set("Content-Md5", b.head.md5)
		if b.snapshot == "" || c.Version >= sinceSnapshotTier {
			c.Set("X-Ms-Access-Tier", b.accessTier())
			if b.tier == "" {
				c.Set("X-Ms-Access-Tier-Inferred", "true")
			} else {
				c.Set("X-Ms-Access-Tier-Change-Time", xmlservice.HTTPTime(b.tiered))
			}
		}
		c.Set("Content-Length", itoa(b.size()))
		c.W.WriteHeader(http.StatusOK)
		return nil
	})
}

// readable checks the lease and the conditions of a read.
func (c *call) readable(cond conditions, b *blob) *reply.Error {
	if e := c.holds(b, false); e != nil {
		return e
	}
	return cond.read(b.etag, b.modified)
}

// blobHeaders sets the headers that Get Blob and Get Blob Properties have in common, except
// ETag, Last-Modified, metadata, length and MD5.
func (c *call) blobHeaders(b *blob) {
	set := c.Set
	set("Content-Type", b.head.contentType)
	set("Content-Encoding", b.head.encoding)
	set("Content-Language", b.head.language)
	set("Cache-Control", b.head.cacheControl)
	set("Content-Disposition", b.head.disposition)
	if c.Query.Get("sig") != "" { // overrides that a shared access signature may contain
		for param, name := range map[string]string{
			"rsct": "Content-Type", "rsce": "Content-Encoding", "rscl": "Content-Language", "rscc": "Cache-Control", "rscd": "Content-Disposition",
		} {
			set(name, c.Query.Get(param))
		}
	}
	set("Accept-Ranges", "bytes")
	set("X-Ms-Blob-Type", b.kind)
	set("X-Ms-Creation-Time", xmlservice.HTTPTime(b.created))
	set("X-Ms-Server-Encrypted", "true")
	if b.snapshot == "" {
		b.lease.headers(c.Call)
	}
	set("X-Ms-Snapshot", b.snapshot)
	if b.kind == appendBlob {
		set("X-Ms-Blob-Committed-Block-Count", itoa(int64(len(b.blocks))))
		if b.sealed {
			set("X-Ms-Blob-Sealed", "true")
		}
	}
	if len(b.tags) > 0 {
		set("X-Ms-Tag-Count", itoa(int64(len(b.tags))))
	}
	if c := b.copied; c != nil {
		set("X-Ms-Copy-Id", c.id)
		set("X-Ms-Copy-Source", c.source)
		set("X-Ms-Copy-Status", "success")
		set("X-Ms-Copy-Progress", c.progress())
		set("X-Ms-Copy-Completion-Time", xmlservice.HTTPTime(c.done))
	}
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-metadata
func (c *call) setMetadata() *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	e = c.changeBlob(func(b *blob) *reply.Error { b.meta = meta; return nil })
	if e != nil {
		return e
	}
	c.Set("X-Ms-Request-Server-Encrypted", "true")
	return c.Empty(http.StatusOK)
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-properties
func (c *call) setHeaders() *reply.Error {
	for _, name := range []string{"X-Ms-Blob-Content-Length", "X-Ms-Sequence-Number-Action", "X-Ms-Blob-Sequence-Number"} {
		if c.Header(name) != "" {
			return reply.NotImplemented("page blobs")
		}
	}
	head, e := c.readContentHeaders(false)
	if e != nil {
		return e
	}
	e = c.changeBlob(func(b *blob) *reply.Error { b.head, b.copied = head, nil; return nil })
	if e != nil {
		return e
	}
	return c.Empty(http.StatusOK)
}

// copied is the source of the content of a blob.
type copied struct {
	id, source string
	size       int64
	done       time.Time
}

func (c *copied) progress() string { return itoa(c.size) + "/" + itoa(c.size) }
