package blob

import (
	"encoding/base64"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// Limits of https://learn.microsoft.com/rest/api/storageservices/understanding-block-blobs--append-blobs--and-page-blobs
const (
	mib          = 1 << 20
	maxBlocks    = 50_000
	maxStaged    = 100_000
	maxBlockID   = 64       // bytes before base64
	maxSmall     = 64 << 10 // small documents
	maxBlockList = 16 * mib // 50,000 ids with their elements stay below

	since2016 = "2016-05-31"
	since2019 = "2019-12-12"
	since2022 = "2022-11-02"
)

// bySteps picks the limit in bytes of the request's version.
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

// incoming reads what a request that writes a whole blob says beside the content.
func (r *request) incoming(kind string, plain bool) (*blob, conditions, *restxml.Error) {
	b := &blob{kind: kind}
	cond, e := readConditions(r.Call, "", false)
	if e != nil {
		return nil, cond, e
	}
	if b.head, e = r.readContentHeaders(plain); e != nil {
		return nil, cond, e
	}
	if b.meta, e = r.Metadata(); e != nil {
		return nil, cond, e
	}
	if b.tags, e = r.headerTags(); e != nil {
		return nil, cond, e
	}
	b.tier, e = r.readTier()
	return b, cond, e
}

// https://learn.microsoft.com/rest/api/storageservices/put-blob
func (r *request) putBlob(kind string) *restxml.Error {
	switch kind {
	case blockBlob, appendBlob:
	case "PageBlob":
		return restxml.NotImplemented("page blobs")
	case "":
		return restxml.MissingHeader("x-ms-blob-type")
	default:
		return restxml.InvalidHeader("x-ms-blob-type", kind)
	}
	if v := r.Header("X-Ms-Blob-Content-Length"); v != "" { // of page blobs only
		return restxml.InvalidHeader("x-ms-blob-content-length", v)
	}
	b, cond, e := r.incoming(kind, true)
	if e != nil {
		return e
	}
	if kind == appendBlob {
		if r.R.ContentLength != 0 {
			return restxml.InvalidHeader("Content-Length", itoa(r.R.ContentLength))
		}
		b.head.md5 = ""
	} else if e := r.receive(b); e != nil {
		return e
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	if e := r.replace(cond, b, nil); e != nil {
		return e
	}
	r.created()
	return nil
}

// receive reads and verifies the body of a block blob that comes in one piece.
func (r *request) receive(b *blob) *restxml.Error {
	body, e := r.Body(maxOneShot(r.Version))
	if e != nil {
		return e
	}
	if e := r.Verify(body, "Content-Md5", "X-Ms-Content-Crc64"); e != nil {
		return e
	}
	if b.head.md5 != "" {
		if e := restxml.CheckMD5(b.head.md5, body); e != nil {
			return e
		}
	} else if b.head.md5 = r.Header("Content-Md5"); b.head.md5 == "" {
		b.head.md5 = restxml.MD5(body)
	}
	r.Set("Content-Md5", b.head.md5)
	r.Set("X-Ms-Content-Crc64", restxml.CRC64(body))
	if len(body) > 0 {
		b.blocks = contentOf([]block{{data: body}})
	}
	return nil
}

// created answers a write of content.
func (r *request) created() {
	r.Set("X-Ms-Request-Server-Encrypted", "true")
	r.Empty(http.StatusCreated)
}

// blockIDLen is the length of a block id in bytes before base64; false when it is
// not base64 or empty.
func blockIDLen(id string) (int, bool) {
	raw, err := base64.StdEncoding.DecodeString(id)
	return len(raw), err == nil && len(raw) > 0
}
