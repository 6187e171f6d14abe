package blob

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// maxSummed is the length of the longest range whose checksum may be requested.
const maxSummed = 4 * mib

// span is the range of a request; to is the last byte, or -1 for the end.
type span struct{ from, to int64 }

// parseSpan parses bytes=from- and bytes=from-to, the forms that the service supports.
// https://learn.microsoft.com/rest/api/storageservices/specifying-the-range-header-for-blob-service-operations
func parseSpan(text string) (span, bool) {
	bytes, ok := strings.CutPrefix(text, "bytes=")
	from, to, dash := strings.Cut(bytes, "-")
	s := span{to: -1}
	var err error
	if s.from, err = strconv.ParseInt(from, 10, 64); err != nil || !ok || !dash || s.from < 0 {
		return s, false
	}
	if to == "" {
		return s, true
	}
	s.to, err = strconv.ParseInt(to, 10, 64)
	return s, err == nil && s.to >= s.from
}

// ask reads the range of a Get Blob. x-ms-range overrides Range. A malformed range is
// ignored, as in HTTP.
func (c *call) ask() *span {
	text := c.Header("X-Ms-Range")
	if text == "" {
		text = c.Header("Range")
	}
	if s, ok := parseSpan(text); ok {
		return &s
	}
	return nil
}

// within limits a range to content of that size, and returns it as a half-open range.
func (s *span) within(size int64) (from, to int64, e *reply.Error) {
	if s == nil {
		return 0, size, nil
	}
	if s.from >= size {
		e := reply.New(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is invalid for the current size of the resource.")
		e.Header = http.Header{"Content-Range": {"bytes */" + itoa(size)}}
		return 0, 0, e
	}
	if s.to < 0 {
		return s.from, size, nil
	}
	return s.from, min(s.to, size-1) + 1, nil
}

// https://learn.microsoft.com/rest/api/storageservices/get-blob
func (c *call) get() *reply.Error {
	if c.Query.Get("comp") == "metadata" {
		return c.describe()
	}
	cond, e := readConditions(c.Call, "", true)
	if e != nil {
		return e
	}
	asked := c.ask()
	wantMD5, wantCRC := c.Header("X-Ms-Range-Get-Content-Md5") == "true", c.Header("X-Ms-Range-Get-Content-Crc64") == "true"
	if wantMD5 && wantCRC {
		return reply.InvalidInput("Both x-ms-range-get-content-md5 and x-ms-range-get-content-crc64 are present.")
	}
	if (wantMD5 || wantCRC) && asked == nil {
		return reply.MissingHeader("x-ms-range")
	}
	var parts [][]byte
	status := http.StatusOK
	if asked != nil {
		status = http.StatusPartialContent
	}
	e = c.onBlob(func(_ *container, b *blob) (e *reply.Error) {
		parts, e = c.pick(b, cond, asked, wantMD5 || wantCRC)
		return e
	})
	if e != nil {
		return e
	}
	if wantMD5 {
		c.Set("Content-Md5", xmlservice.MD5(parts...))
	}
	if wantCRC {
		c.Set("X-Ms-Content-Crc64", xmlservice.CRC64(parts...))
	}
	c.W.WriteHeader(status)
	for _, p := range parts {
		if !reply.Write(c.W, p) {
			break
		}
	}
	return nil
}

// pick returns the bytes to send, and sets the headers. The caller holds s.mu, and may send
// the bytes without it.
func (c *call) pick(b *blob, cond conditions, asked *span, summed bool) ([][]byte, *reply.Error) {
	if e := c.readable(cond, b); e != nil {
		return nil, e
	}
	from, to, e := asked.within(b.size())
	if e != nil {
		return nil, e
	}
	if summed && to-from > maxSummed {
		return nil, reply.InvalidHeader("x-ms-range", itoa(to-from), "a range with a checksum has at most 4 MiB")
	}
	c.Count(1, 0)
	c.Stamp(b.etag, b.modified)
	b.meta.Headers(c.W.Header())
	c.blobHeaders(b)
	c.Set("Content-Length", itoa(to-from))
	if asked == nil {
		c.Set("Content-Md5", b.head.md5)
	} else {
		c.Set("X-Ms-Blob-Content-Md5", b.head.md5)
		c.Set("Content-Range", "bytes "+itoa(from)+"-"+itoa(to-1)+"/"+itoa(b.size()))
	}
	return b.slice(from, to), nil
}
