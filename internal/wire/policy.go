package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/limit"
)

// Accelerate adds the accelerating policy, the one that keeps requests, and a transport that
// limits replies. What opts has already is not added again. nil options are ignored. The slices
// of opts are replaced, because copies of the options share them.
func Accelerate(opts *azcore.ClientOptions) {
	if opts == nil {
		return
	}
	if !slices.Contains(opts.PerRetryPolicies, policy.Policy(accelerator{})) {
		opts.PerCallPolicies = append([]policy.Policy{keeper{}}, opts.PerCallPolicies...)
		opts.PerRetryPolicies = append(slices.Clip(slices.Clone(opts.PerRetryPolicies)), accelerator{})
	}
	opts.Transport = limit.Transport(opts.Transport)
}

// accelerator replaces the bodies of requests that have a [call] in their context: the
// caller encodes and decodes them, which aztables would do by way of maps. Other requests
// are not changed. It is a per-retry policy and so handles every try. It runs after the
// signing policies, which is possible because signatures of the Table service do not cover
// the body.
type accelerator struct{}

func (accelerator) Do(req *policy.Request) (*http.Response, error) {
	raw := req.Raw()
	c, _ := raw.Context().Value(callKey{}).(*call)
	if c == nil || namesTables(raw.URL.Path) {
		return req.Next()
	}
	c.seen = true
	c.client.mode.Store(accelerated)
	if c.tries > 0 && c.open {
		c.earlierOpen = true
	}
	c.tries++
	c.open = true

	if err := c.client.recordAddress(raw); err != nil {
		return nil, azerr.Unsent(err)
	}
	if c.batch != nil && c.body == nil {
		buf := limit.GetBuffer(batchSize(c.batch))
		*buf = appendBatch((*buf)[:0], *c.client.address.Load(), c.batch)
		c.body = newBody(buf)
	}
	if c.body != nil {
		if err := c.setBody(req); err != nil {
			return nil, azerr.Unsent(err)
		}
	}
	if c.prefer {
		raw.Header["Prefer"] = preferNoContent
	}
	if c.receive != nil {
		runtime.SkipBodyDownload(req)
	}
	if c.toKeep != nil && c.policies.Load() == policiesUnknown {
		req = req.WithContext(&witness{raw.Context(), c})
	}
	asked := time.Now()
	resp, err := req.Next()
	if err != nil {
		c.open = !definite(0, "", err)
		c.noReply = c.noReply || c.open && resp == nil
		return resp, err
	}
	c.client.clock.Observe(resp.Header, asked)
	c.open = resp.StatusCode >= http.StatusMultipleChoices && !definite(resp.StatusCode, codeOf(resp), nil)
	c.noReply = c.noReply || c.open && ofGateway(resp)
	if c.receive == nil || resp.StatusCode >= http.StatusMultipleChoices {
		return resp, nil
	}
	if err := c.take(resp); err != nil {
		return resp, err
	}
	if c.batch != nil {
		resp.Body = io.NopCloser(bytes.NewReader(cannedBatchReply))
	} else {
		resp.Body = http.NoBody
	}
	return resp, nil
}

// namesTables reports whether a request creates, deletes or lists tables. No call does, but
// another policy may do so with the context of a request that found no table.
func namesTables(path string) bool {
	return strings.HasSuffix(path, "/Tables") || strings.Contains(path, "/Tables(")
}

// codeOf returns the error code of a reply, "" if it has none. It is in the body, which
// azcore has read already: the Table service sends no header with it.
func codeOf(resp *http.Response) string {
	var e *azcore.ResponseError
	if errors.As(runtime.NewResponseError(resp), &e) {
		return e.ErrorCode
	}
	return ""
}

var preferNoContent = []string{"return-no-content"}

// setBody makes c.body the request's body. Policies that follow may rewind it, and net/http
// may send it several times.
func (c *call) setBody(req *policy.Request) error {
	header := req.Raw().Header
	contentType := header["Content-Type"]
	if c.batch != nil {
		contentType = batchContentType
	}
	r := c.body.reader()
	if err := req.SetBody(r, ""); err != nil {
		return err
	}
	r.sent = true
	header["Content-Type"] = contentType
	req.Raw().GetBody = func() (io.ReadCloser, error) { return c.body.reader(), nil }
	return nil
}

// take reads the reply into a pooled buffer and passes it to c.receive. If the read fails,
// azcore tries again unless the request is a write. It does not try again after a reply
// without end or one that cannot be parsed, which would not change.
func (c *call) take(resp *http.Response) error {
	buf := limit.GetBuffer(c.client.replySize(resp.ContentLength))
	defer limit.PutBuffer(buf)
	body, err := limit.ReadAll(buf, resp.Body, limit.MaxReply)
	resp.Body.Close()
	if err != nil {
		c.open = true
		tryAgain := !c.write && !errors.Is(err, limit.ErrTooLong)
		err = azerr.Errorf("%w: %w", azerr.ErrBadReply, err)
		if !tryAgain {
			return azerr.Final(err)
		}
		return err
	}
	c.client.lastReply.Store(int64(len(body)))
	c.received = true
	if err := c.receive(resp, body); err != nil {
		c.open = true
		return azerr.Final(err)
	}
	return nil
}
