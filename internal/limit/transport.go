// Package limit bounds the memory that a reply can occupy, whatever arrives. Only the
// transport can do that: azcore downloads bodies below every policy.
package limit

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

const (
	// MaxReply is the most bytes of a reply of success, decompressed. A list of 5,000
	// blobs, a page of 1,000 small rows, a row of 1 MiB as JSON, and 32 messages are smaller.
	MaxReply = 16 << 20

	// maxTags is the most tags of a list of messages. Of 32 messages with 7 elements each it
	// has about 500.
	maxTags = 4096

	// maxError is the most bytes that are read of a reply of failure.
	maxError = 1 << 20
)

// ErrTooLong is the error of a body of more than [MaxReply] bytes. It matches
// [azerr.ErrBadReply]. azcore does not try again after it: the next reply would be as long.
var ErrTooLong = azerr.Final(azerr.Errorf("%w: %w", azerr.ErrBadReply, azerr.Sentinel("longer than any reply of the service")))

// Transport returns a transport that sends through t and limits the bodies of replies. A
// longer body of a reply of failure ends at the limit, so that its status still counts;
// reading a longer body of a reply of success fails with [ErrTooLong]. The content of blobs
// is not limited, because callers read it as a stream. nil means a transport like the one
// that azcore has by default. A transport that has the limits already is returned unchanged.
// No redirect is followed, see [Unlimited].
func Transport(t policy.Transporter) policy.Transporter {
	if limited, ok := t.(*transport); ok {
		return limited
	}
	return &transport{Unlimited(t)}
}

type transport struct{ inner policy.Transporter }

func (t *transport) Do(req *http.Request) (*http.Response, error) {
	resp, err := t.inner.Do(req)
	switch {
	case err == nil && resp != nil && resp.StatusCode == http.StatusCreated && req.Context().Value(withoutBody{}) != nil:
		if resp.Body != nil {
			_, _ = io.CopyN(io.Discard, resp.Body, maxError) // so that the connection can be used again
			_ = resp.Body.Close()
		}
		resp.Body = http.NoBody
	case err != nil || resp == nil || resp.Body == nil || resp.Body == http.NoBody:
	case resp.StatusCode >= http.StatusMultipleChoices:
		resp.Body = &limitedBody{ReadCloser: resp.Body, left: maxError, then: io.EOF}
	case isMessages(req):
		resp.Body = &messages{limitedBody{ReadCloser: resp.Body, left: MaxReply, then: ErrTooLong}, maxTags}
	case !isContent(req):
		resp.Body = &limitedBody{ReadCloser: resp.Body, left: MaxReply, then: ErrTooLong}
	}
	return resp, err
}

type withoutBody struct{}

// WithoutBody returns a context for requests whose body of the reply is not needed. Transport
// removes it if the reply has the status 201, so that the SDK does not decode it.
func WithoutBody(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutBody{}, true)
}

// isContent reports whether req reads the content of a blob. All other requests of azblob
// and azqueue that read bodies have one of the parameters, and aztables reads JSON.
func isContent(req *http.Request) bool {
	if req.Method != http.MethodGet || strings.HasPrefix(req.Header.Get("Accept"), "application/json") {
		return false
	}
	return !req.URL.Query().Has("comp") && !isMessages(req)
}

// isMessages reports whether req reads messages of a queue. A reader of a blob has neither
// parameter.
func isMessages(req *http.Request) bool {
	q := req.URL.RawQuery
	return req.Method == http.MethodGet && (strings.Contains(q, "numofmessages=") || strings.Contains(q, "peekonly="))
}

// messages is a body that also ends if it has too many tags: decoded, an empty element takes
// 60 times its size. Within texts, the service writes < as an entity.
type messages struct {
	limitedBody
	tags int // that may follow
}

func (m *messages) Read(p []byte) (int, error) {
	n, err := m.limitedBody.Read(p)
	if m.tags -= bytes.Count(p[:n], []byte{'<'}); m.tags < 0 {
		return n, ErrTooLong
	}
	return n, err
}

// limitedBody ends with the error then if more than left bytes follow.
type limitedBody struct {
	io.ReadCloser
	left int64
	then error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.then
	}
	// One byte more than permitted shows that the body goes on.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.then
	}
	return n, err
}
