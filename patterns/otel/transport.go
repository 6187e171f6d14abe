package otel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/patterns"
)

// Attach adds a span and a duration for each try of a request to the options of a client of
// tables, queues or blobs. It is part of the transport: it changes no request, and accelerated
// calls keep their shortcut. A transport that is set later needs Attach again. nil options
// are ignored.
func (t *Telemetry) Attach(opts *azcore.ClientOptions) {
	if t == nil || t.recorder == nil || opts == nil {
		return
	}
	patterns.LimitReplies(opts)
	opts.Transport = &transport{t.recorder, opts.Transport}
}

func newRecorder(m metric.Meter, tracer trace.Tracer) (*recorder, error) {
	t := &recorder{tracer: tracer}
	var errs [4]error
	t.durations[tables], errs[0] = seconds(m, "db.client.operation.duration", "Duration of database client operations.", databaseBoundaries)
	t.durations[queues], errs[1] = seconds(m, "messaging.client.operation.duration", clientDuration, otherBoundaries)
	t.durations[blobs], errs[2] = seconds(m, "http.client.request.duration", "Duration of HTTP client requests.", otherBoundaries)
	t.sent, errs[3] = m.Int64Counter("messaging.client.sent.messages",
		metric.WithUnit("{message}"), metric.WithDescription("Number of messages producer attempted to send to the broker."))
	return t, errors.Join(errs[:]...)
}

// recorder records requests.
type recorder struct {
	tracer    trace.Tracer
	durations [3]metric.Float64Histogram // by service
	tries     tries
	sent      metric.Int64Counter
}

// transport makes a span for each request. It is safe for concurrent use.
type transport struct {
	*recorder
	next policy.Transporter
}

// Do sends the request. The span ends when the head of the reply has arrived; if messages were
// requested, when they were read.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	read := requests.Get().(*target.Request)
	defer requests.Put(read)
	read.Read(req)
	c := newCall(read, req)
	attributes := c.attributes(req.URL)
	began := time.Now()
	resent := t.tries.before(req, read)
	ctx, span := t.tracer.Start(req.Context(), c.name(), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	if span.IsRecording() {
		span.SetAttributes(c.detail(req, resent)...)
	}
	resp, err := t.next.Do(req)
	t.tries.end(req, read, resent, resp, err)
	outcome := c.outcome(resp, err)
	span.SetAttributes(outcome...)
	if resp != nil && span.IsRecording() {
		span.SetAttributes(attribute.String("az.service_request_id", resp.Header.Get("x-ms-request-id")))
	}
	if kind := c.errorType(resp, err); kind != "" {
		outcome = append(outcome, attribute.String("error.type", kind))
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, kind)
	}
	set := metric.WithAttributeSet(attribute.NewSet(append(attributes, outcome...)...))
	t.durations[c.service].Record(ctx, since(began), set)
	if c.action == "send" {
		t.sent.Add(ctx, 1, set)
	}
	if err != nil || read.Kind != target.Poll || !read.Wrap(resp, received{span}) {
		span.End()
	}
	return resp, err
}

// received ends the span of a request for messages.
type received struct{ trace.Span }

// Page implements [target.Counted].
func (r received) Page(messages, _ int64) {
	r.SetAttributes(attribute.Int64("messaging.batch.message_count", messages))
	r.End()
}

// detail returns the attributes of a span that its metric does not have.
func (c *call) detail(req *http.Request, resent int) []attribute.KeyValue {
	var all []attribute.KeyValue
	if c.size > 1 {
		all = append(all, attribute.Int("db.operation.batch.size", c.size))
	}
	if c.class != "" {
		all = append(all, attribute.String("azpatterns.query.class", c.class))
	}
	if resent > 0 {
		all = append(all, attribute.Int("http.request.resend_count", resent))
	}
	if id := req.Header["X-Ms-Client-Request-Id"]; len(id) > 0 {
		all = append(all, attribute.String("az.client_request_id", id[0]))
	}
	return all
}

// outcome returns the attribute of the status.
func (c *call) outcome(resp *http.Response, err error) []attribute.KeyValue {
	switch {
	case err != nil || resp == nil:
		return nil
	case c.service == tables:
		return []attribute.KeyValue{attribute.String("db.response.status_code", strconv.Itoa(resp.StatusCode))}
	}
	return []attribute.KeyValue{attribute.Int("http.response.status_code", resp.StatusCode)}
}

// errorType returns the attribute error.type, "" for a success. That a point read finds no row is
// a success.
func (c *call) errorType(resp *http.Response, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case err != nil || resp == nil:
		return fmt.Sprintf("%T", err)
	case resp.StatusCode < 400:
		return ""
	}
	code := resp.Header.Get("x-ms-error-code")
	if code == "" && c.service == tables {
		code = codeOf(resp)
	}
	if c.operation == "GetEntity" && resp.StatusCode == http.StatusNotFound && code == "ResourceNotFound" {
		return ""
	}
	return cmp.Or(code, strconv.Itoa(resp.StatusCode))
}

// maxError is how much of a failure is read for its code, which is at the beginning.
const maxError = 4 << 10

// codeOf returns the code of a failure in the body, which it leaves to the client.
func codeOf(resp *http.Response) string {
	if resp.Body == nil {
		return ""
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failed{err}
	}
	resp.Body = &body{io.MultiReader(bytes.NewReader(head), rest), resp.Body}
	copied := *resp
	copied.Body = io.NopCloser(bytes.NewReader(head))
	var e *azcore.ResponseError
	if errors.As(runtime.NewResponseError(&copied), &e) {
		return e.ErrorCode
	}
	return ""
}

// failed is the rest of a body that could not be read.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// body is the body of a reply whose beginning was read.
type body struct {
	io.Reader
	io.Closer
}
