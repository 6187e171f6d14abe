package blob

import (
	"encoding/base64"
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Limits of https://learn.microsoft.com/rest/api/storageservices/understanding-block-blobs--append-blobs--and-page-blobs
const (
	mib          = 1 << 20
	maxBlocks    = 50_000
	maxStaged    = 100_000
	maxBlockID   = 64       // bytes before base64
	maxSmall     = 64 << 10 // small documents
	maxBlockList = 16 * mib // 50,000 ids with their elements are smaller

	since2016 = "2016-05-31"
	since2019 = "2019-12-12"
	since2022 = "2022-11-02"
)

// bySteps returns the limit of a version in bytes. The other arguments are in MiB.
func bySteps(version string, before2016, before2019, now int64) int64 {
	switch {
	case version < since2016:
		return before2016 * mib
	case version < since2019:
		return before2019 * mib
	}
	return now * mib
}

func maxOneShot(version string) int64 { return bySteps(version, 64, 256, 5000) }
func maxBlock(version string) int64   { return bySteps(version, 4, 100, 4000) }

func maxAppend(version string) int64 {
	if version < since2022 {
		return 4 * mib
	}
	return 100 * mib
}

// incoming reads the headers of a request that writes a whole blob.
func (c *call) incoming(kind string, plain bool) (*blob, conditions, *reply.Error) {
	b := &blob{kind: kind}
	cond, e := readConditions(c.Call, "", false)
	if e != nil {
		return nil, cond, e
	}
	if b.head, e = c.readContentHeaders(plain); e != nil {
		return nil, cond, e
	}
	if b.head.contentType == "" {
		b.head.contentType = defaultType
	}
	if b.meta, e = c.Metadata(); e != nil {
		return nil, cond, e
	}
	if b.tags, e = c.headerTags(); e != nil {
		return nil, cond, e
	}
	b.tier, e = c.readTier()
	return b, cond, e
}

// https://learn.microsoft.com/rest/api/storageservices/put-blob
func (c *call) putBlob() *reply.Error {
	kind := c.Header("X-Ms-Blob-Type")
	switch kind {
	case blockBlob, appendBlob:
	case "PageBlob":
		return reply.NotImplemented("page blobs")
	case "":
		return reply.MissingHeader("x-ms-blob-type")
	default:
		return reply.InvalidHeader("x-ms-blob-type", kind, "BlockBlob or AppendBlob")
	}
	if v := c.Header("X-Ms-Blob-Content-Length"); v != "" { // of page blobs only
		return reply.InvalidHeader("x-ms-blob-content-length", v, "for page blobs only")
	}
	b, cond, e := c.incoming(kind, true)
	if e != nil {
		return e
	}
	if kind == appendBlob {
		if c.ContentLength != 0 {
			return reply.InvalidHeader("Content-Length", itoa(c.ContentLength), "an append blob is created without content")
		}
		b.head.md5 = ""
	} else if e := c.receive(b); e != nil {
		return e
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	if e := c.replace(cond, b, nil); e != nil {
		return e
	}
	return c.created()
}

// receive reads and verifies the content of a block blob that is put in one request.
func (c *call) receive(b *blob) *reply.Error {
	body, e := c.Body(maxOneShot(c.Version))
	if e != nil {
		return e
	}
	if e := c.Verify(body, "Content-Md5", "X-Ms-Content-Crc64"); e != nil {
		if e.Code != "Md5Mismatch" || b.head.md5 != xmlservice.MD5(body) {
			return e
		}
		if e := c.Undecided("Content-MD5", "not the MD5 of the body, but x-ms-blob-content-md5 is", e); e != nil {
			return e
		}
	}
	if b.head.md5 != "" {
		if e := xmlservice.CheckMD5(b.head.md5, body); e != nil {
			return e.Because("x-ms-blob-content-md5: not the MD5 of the body")
		}
	} else if b.head.md5 = c.Header("Content-Md5"); b.head.md5 == "" {
		b.head.md5 = xmlservice.MD5(body)
	}
	c.Set("Content-Md5", b.head.md5)
	c.Set("X-Ms-Content-Crc64", xmlservice.CRC64(body))
	if len(body) > 0 {
		b.blocks = contentOf([]block{{data: body}})
	}
	return nil
}

// created replies to a successful write of content.
func (c *call) created() *reply.Error {
	c.Set("X-Ms-Request-Server-Encrypted", "true")
	return c.Empty(http.StatusCreated)
}

// blockIDLen returns the length of a block id in bytes before base64. It returns
// false if the id is empty or not base64.
func blockIDLen(id string) (int, bool) {
	raw, err := base64.StdEncoding.DecodeString(id)
	return len(raw), err == nil && len(raw) > 0
}
