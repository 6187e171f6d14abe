package xmlservice

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// LatestVersion is the version of a request without x-ms-version.
const LatestVersion = "2026-06-06"

// Call is a request that is being carried out, and the reply to it.
type Call struct {
	*request.Request
	W       http.ResponseWriter
	Version string    // x-ms-version; versions are dates, so they compare as text
	Now     time.Time // UTC; see Lock
	id      string
}

// Begin sets the headers that every reply contains, and checks the version and the query.
// If it returns an error, or the request has a Refusal, the caller passes it to Refuse. The
// Call is never nil.
func Begin(w http.ResponseWriter, r *request.Request) (*Call, *reply.Error) {
	h := w.Header()
	now := r.Time().UTC()
	c := &Call{Request: r, W: w, Version: LatestVersion, Now: now, id: reply.Head(h, r.Header, "azpatterns-storagetest", now)}
	if version := c.Header("X-Ms-Version"); version != "" {
		if _, err := time.Parse(time.DateOnly, version); err != nil {
			h.Set("X-Ms-Version", LatestVersion)
			return c, reply.InvalidHeader("x-ms-version", version, "a date")
		}
		c.Version = version
	}
	h.Set("X-Ms-Version", c.Version)
	if r.BadQuery {
		return c, reply.New(http.StatusBadRequest, "RequestUrlFailedToParse", "The url in the request could not be parsed.").Because("the query is not well-formed")
	}
	_, e := c.Int("timeout", 0, 1<<31-1, 30)
	return c, e
}

// Refuse replies with an error: the code in a header and, unless the request is a
// HEAD or the status 304, the XML document of
// https://learn.microsoft.com/rest/api/storageservices/status-and-error-codes2
func (c *Call) Refuse(e *reply.Error) {
	c.Fail(e)
	h := c.W.Header()
	h.Del("Content-Md5") // the operation may have set this header before it failed
	h.Del("X-Ms-Content-Crc64")
	h.Del("Cache-Control")
	for name, values := range e.Header {
		h[name] = values
	}
	if h.Set("X-Ms-Error-Code", e.Code); e.Early {
		h.Del("X-Ms-Error-Code")
		h.Del("X-Ms-Version")
	}
	if c.Method == http.MethodHead || e.Status == http.StatusNotModified {
		c.W.WriteHeader(e.Status)
		return
	}
	c.document(e.Status, reply.StorageXMLError(e.Code, e.Message, c.id, c.Now, e.Detail...))
}

// XML replies with a document. It returns nil, so that an operation can end with it.
func (c *Call) XML(status int, x *XML) *reply.Error {
	c.document(status, x.buf)
	return nil
}

func (c *Call) document(status int, b []byte) {
	h := c.W.Header()
	h.Set("Content-Type", "application/xml")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.W.WriteHeader(status)
	if c.Method != http.MethodHead {
		reply.Write(c.W, b)
	}
}

// Empty replies without a body. It returns nil, so that an operation can end with it.
func (c *Call) Empty(status int) *reply.Error {
	if status != http.StatusNoContent && status != http.StatusNotModified {
		c.W.Header().Set("Content-Length", "0")
	}
	c.W.WriteHeader(status)
	return nil
}

// Lock locks mu and sets Now to the current time, so that the order of Now is the order in
// which requests are carried out.
func (c *Call) Lock(mu *sync.Mutex) {
	mu.Lock()
	c.Now = c.Time().UTC()
}

// Count records how many messages, blobs, queues or containers the request
// returned and how many it changed.
func (c *Call) Count(returned, written int) { c.Request.Count(returned, returned, written) }

// Header returns the value of a request header.
func (c *Call) Header(name string) string { return c.Request.Header.Get(name) }

// Set sets a header of the reply; an empty value sets nothing, and neither does a header that the version of the
// request does not have.
func (c *Call) Set(name, value string) {
	if value != "" && c.Has(name) {
		c.W.Header().Set(name, value)
	}
}

// Stamp sets the ETag and Last-Modified of a resource.
func (c *Call) Stamp(etag string, modified time.Time) {
	c.W.Header().Set("Etag", etag)
	c.W.Header().Set("Last-Modified", HTTPTime(modified))
}

// Endpoint returns the address of the service that the client used, with a slash at the end.
func (c *Call) Endpoint() string { return c.Base + "/" }

// HTTPTime returns t in the form of HTTP headers (RFC 1123, GMT).
func HTTPTime(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// ISOTime returns t in the form of the services' documents: UTC with 7 digits.
func ISOTime(t time.Time) string { return t.UTC().Format(reply.TimeFormat) }
