package wire

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// An accelerated call needs nothing of aztables but its pipeline. aztables nevertheless builds
// an address from parts, encodes a placeholder for the entity, and parses the headers of the reply,
// which takes a third of a point read. So the first call of each kind keeps the request that
// aztables made, as it is in front of the caller's policies, and later calls of the kind change
// its address and send it again: through all policies that follow in the pipeline, and so with
// the same credential, retries and transport.
//
// A kept request has the operation values of its earlier calls, and the headers that per-call
// policies set. Of the policies that aztables puts into the pipeline, only the one that logs and
// the one that downloads bodies have operation values. A request is therefore kept only if
//   - the pipeline has no other policies, not even others of the SDK: each call would have the
//     request ID of the first, for example;
//   - nothing is logged, because the log would count the tries of all calls;
//   - there is no tracing, for which aztables begins a span;
//   - aztables made exactly the request that the shortcut would make.
//
// Otherwise the Client makes all its calls through aztables.

// requestKind is a kind of request. The first ones are those of [Kind].
type requestKind int

const (
	batchRequest = requestKind(Delete) + 1 + iota
	getRequest
	pageRequest
	requestKinds
)

// requestTarget is what distinguishes a request from others of its kind.
type requestTarget struct {
	kind         requestKind
	partitionKey string
	rowKey       string
	etag         string // for Merge, Replace and Delete
	page         *Query // for a page
}

// appendSuffix appends what follows the address of the table.
func (t *requestTarget) appendSuffix(dst []byte) []byte {
	switch t.kind {
	case requestKind(Insert), batchRequest:
		return dst
	case pageRequest:
		return append(dst, "()"...)
	}
	return appendEntityAddress(dst, "", t.partitionKey, t.rowKey)
}

// appendQuery appends the parameters in their order, with a separator after each.
func (t *requestTarget) appendQuery(dst []byte) []byte {
	if t.page == nil {
		return dst
	}
	add := func(name, value string) {
		dst = append(append(dst, name...), url.QueryEscape(value)...)
		dst = append(dst, '&')
	}
	if t.page.Filter != "" {
		add("%24filter=", t.page.Filter)
	}
	if t.page.Bare {
		add("%24format=", string(noMetadata))
	}
	if t.page.Select != "" {
		add("%24select=", t.page.Select)
	}
	if t.page.Top != 0 {
		add("%24top=", strconv.Itoa(int(t.page.Top)))
	}
	if t.page.Next != (Position{}) {
		add("NextPartitionKey=", t.page.Next.PartitionKey)
	}
	if t.page.Next.RowKey != "" {
		add("NextRowKey=", t.page.Next.RowKey)
	}
	return dst
}

// accepted reports whether status is one of success for aztables.
func (t *requestTarget) accepted(status int) bool {
	switch t.kind {
	case getRequest, pageRequest:
		return status == http.StatusOK
	case batchRequest:
		return status == http.StatusAccepted || status == http.StatusNoContent
	case requestKind(Insert):
		return status == http.StatusCreated || status == http.StatusNoContent
	}
	return status == http.StatusNoContent
}

// kept is a request that aztables made. One call at a time uses it.
type kept struct {
	request *policy.Request
	entry   policy.Request // of [capturing]
	idle    http.Request   // the http.Request between two calls
	url     url.URL
	ifMatch []string
	path    string // of the table, escaped
	query   string // the parameters of all requests, such as those of a SAS
	text    []byte
}

// takeKept takes a request from the pool, if there is one of the kind of c.
func (c *call) takeKept() {
	if !c.client.noKept.Load() {
		c.kept, _ = c.client.kept[c.kind].Get().(*kept)
	}
}

// putKept puts the request of c into the pool.
func (c *call) putKept() { c.client.kept[c.kind].Put(c.kept) }

// keep puts the request of c into the pool if it may be kept. If it may not, no request of the
// client is kept any more.
func (c *call) keep() {
	switch c.policies.Load() {
	case policiesUnknown: // no request is to be kept, or the call did not come to the last policies
	case policiesSDK:
		if c.kept != nil && !logging() {
			c.putKept()
			return
		}
		fallthrough
	default:
		c.client.noKept.Store(true)
	}
}

// keep returns a copy of req, which aztables made for t, nil if the shortcut would make another
// request for t.
func (t *requestTarget) keep(req *policy.Request) *kept {
	k := &kept{request: req.Clone(context.Background())}
	raw := k.request.Raw()
	suffix, own := string(t.appendSuffix(nil)), string(t.appendQuery(nil))
	var samePath, sameQuery bool
	k.url = *raw.URL
	k.path, samePath = strings.CutSuffix(k.url.EscapedPath(), suffix)
	k.query, sameQuery = strings.CutPrefix(k.url.RawQuery+"&", own)
	k.query = strings.TrimSuffix(k.query, "&")
	if strings.Contains(k.query, "%24") || strings.Contains(k.query, "Next") {
		return nil // the address of the service has a parameter that some queries replace
	}
	if !samePath || !sameQuery || t.etag != "" && raw.Header.Get("If-Match") != t.etag {
		return nil
	}
	contentType := raw.Header["Content-Type"]
	if err := k.request.SetBody(nil, ""); err != nil { // the placeholder for the entity
		return nil
	}
	raw.GetBody = nil
	if contentType != nil {
		raw.Header["Content-Type"] = contentType
	}
	if t.etag != "" {
		k.ifMatch = []string{""}
		raw.Header["If-Match"] = k.ifMatch
	}
	raw.URL = &k.url
	k.idle = *raw
	return k
}

// send sends the request for t. The context has the call.
func (k *kept) send(ctx context.Context, t *requestTarget) error {
	raw := k.request.Raw()
	*raw = *k.idle.WithContext(ctx)
	switch t.kind {
	case pageRequest:
		k.text = append(t.appendQuery(k.text[:0]), k.query...)
		if k.query == "" && len(k.text) > 0 {
			k.text = k.text[:len(k.text)-1]
		}
		k.url.RawQuery = string(k.text)
	case requestKind(Insert), batchRequest:
	default:
		k.text = t.appendSuffix(append(k.text[:0], k.path...))
		path := string(k.text)
		plain, err := url.PathUnescape(path)
		if err != nil {
			return azerr.Unsent(err)
		}
		k.url.Path, k.url.RawPath = plain, path
	}
	if k.ifMatch != nil {
		k.ifMatch[0] = t.etag
	}
	k.entry = *k.request
	resp, err := capturing.Do(&k.entry)
	k.entry, *raw = policy.Request{}, k.idle
	if err == nil && !t.accepted(resp.StatusCode) {
		err = azruntime.NewResponseError(resp)
	}
	return err
}

// capturing is a pipeline for the policy that serves policy.WithCaptureResponse. It is in front
// of all others, where a kept request does not pass. Of this pipeline only that policy and
// rejoin are reached.
var capturing = azruntime.NewPipeline("azpatterns", "v0.0.0",
	azruntime.PipelineOptions{PerCall: []policy.Policy{rejoin{}}},
	&policy.ClientOptions{Telemetry: policy.TelemetryOptions{Disabled: true}})

// rejoin continues with the policies that follow a kept request.
type rejoin struct{}

func (rejoin) Do(req *policy.Request) (*http.Response, error) {
	c, _ := req.Raw().Context().Value(callKey{}).(*call)
	return c.kept.request.Next()
}

// keeper is the first per-call policy. It keeps the requests of calls that ask for it, and records the addresses of
// [Client.TableName].
type keeper struct{}

func (keeper) Do(req *policy.Request) (*http.Response, error) {
	ctx := req.Raw().Context()
	if c, ok := ctx.Value(addressKey{}).(*Client); ok {
		_ = c.recordAddress(req.Raw()) // is no transaction
		return nil, ctx.Err()
	}
	// With tracing, the context is another one.
	if c, _ := ctx.Value(callKey{}).(*call); c != nil && c.toKeep == ctx && !namesTables(req.Raw().URL.Path) {
		c.kept = c.requestTarget.keep(req)
	}
	return req.Next()
}
