package restxml

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// LatestVersion is answered, and its limits apply, when a request names no
// x-ms-version.
const LatestVersion = "2026-06-06"

// A Call is one request with what every operation asks of it.
type Call struct {
	W       http.ResponseWriter
	R       *http.Request
	Query   url.Values
	Version string    // x-ms-version; versions are dates, so they compare as text
	Now     time.Time // UTC; see Lock
	id      string
}

// Begin sets the headers that every answer carries and reads the version and the
// query. On a nil error the caller carries the request out; otherwise it passes
// the error to Fail. Call is never nil.
func Begin(w http.ResponseWriter, r *http.Request) (*Call, *Error) {
	h := w.Header()
	c := &Call{W: w, R: r, Version: LatestVersion, Now: time.Now().UTC(), id: rest.Head(h, r, "azpatterns-storagetest")}
	version := r.Header.Get("X-Ms-Version")
	if version == "" {
		version = LatestVersion
	} else if _, err := time.Parse(time.DateOnly, version); err != nil {
		h.Set("X-Ms-Version", LatestVersion)
		return c, InvalidHeader("x-ms-version", version)
	}
	c.Version = version
	h.Set("X-Ms-Version", version)
	var err error
	if c.Query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return c, Refuse(http.StatusBadRequest, "RequestUrlFailedToParse", "The url in the request could not be parsed.")
	}
	if _, err := c.Int("timeout", 0, 1<<31-1, 30); err != nil {
		return c, err
	}
	return c, nil
}

// Fail answers with an error of the service: the code in a header and, but for
// HEAD and 304, the XML document of
// https://learn.microsoft.com/rest/api/storageservices/status-and-error-codes2
func (c *Call) Fail(e *Error) {
	rest.CallFrom(c.R.Context()).Fail(e.Status, e.Code)
	h := c.W.Header()
	h.Del("Content-Md5") // an answer that was begun may have set them
	h.Del("X-Ms-Content-Crc64")
	for name, values := range e.Header {
		h[name] = values
	}
	h.Set("X-Ms-Error-Code", e.Code)
	if c.R.Method == http.MethodHead || e.Status == http.StatusNotModified {
		c.W.WriteHeader(e.Status)
		return
	}
	c.document(e.Status, rest.StorageXMLError(e.Code, e.Message, c.id, c.Now, e.Detail...))
}

// XML answers with a document.
func (c *Call) XML(status int, x *XML) { c.document(status, x.buf) }

func (c *Call) document(status int, b []byte) {
	h := c.W.Header()
	h.Set("Content-Type", "application/xml")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.W.WriteHeader(status)
	if c.R.Method != http.MethodHead {
		c.Write(b)
	}
}

// Write sends part of a body that nobody changes afterwards, and reports whether
// the reader is still there. A writer that can keep it is not given a copy.
func (c *Call) Write(p []byte) bool {
	if k, ok := c.W.(interface{ Keep([]byte) }); ok {
		k.Keep(p)
		return true
	}
	_, err := c.W.Write(p)
	return err == nil // else the reader is gone; what the request did stands
}

// Empty answers without a body.
func (c *Call) Empty(status int) {
	if status != http.StatusNoContent && status != http.StatusNotModified {
		c.W.Header().Set("Content-Length", "0")
	}
	c.W.WriteHeader(status)
}

// Lock locks mu and moves Now to this instant, so that the order of the instants
// is the order in which requests are carried out.
func (c *Call) Lock(mu *sync.Mutex) {
	mu.Lock()
	c.Now = time.Now().UTC()
}

// Count tells the sender how many messages, blobs, queues or containers the
// request gave back and how many it changed.
func (c *Call) Count(returned, written int) {
	rest.CallFrom(c.R.Context()).Count(returned, returned, written)
}

// Header is the value of a request header.
func (c *Call) Header(name string) string { return c.R.Header.Get(name) }

// Set sets a header of the answer; an empty value sets nothing.
func (c *Call) Set(name, value string) {
	if value != "" {
		c.W.Header().Set(name, value)
	}
}

// Stamp sets the ETag and Last-Modified of a resource.
func (c *Call) Stamp(etag string, modified time.Time) {
	c.W.Header().Set("Etag", etag)
	c.W.Header().Set("Last-Modified", HTTPTime(modified))
}

// Endpoint is the address of the service as the client sees it, ending in a slash.
func (c *Call) Endpoint() string { return rest.Base(c.R) + "/" }

// HTTPTime is t in the form of HTTP headers (RFC 1123, GMT).
func HTTPTime(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// ISOTime is t in the form of the services' documents: UTC with 7 digits.
func ISOTime(t time.Time) string { return t.UTC().Format(rest.TimeFormat) }
