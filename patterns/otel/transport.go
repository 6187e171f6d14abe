package otel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

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
	sent      metric.Int64Counter
}

// transport makes a span for each request. It is safe for concurrent use.
type transport struct {
	*recorder
	next policy.Transporter
}

// Do sends the request. The span ends when the head of the reply has arrived.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	c := newCall(req)
	attributes := c.attributes(req.URL)
	began := time.Now()
	ctx, span := t.tracer.Start(req.Context(), c.name(), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	defer span.End()
	if c.size > 1 {
		span.SetAttributes(attribute.Int("db.operation.batch.size", c.size))
	}
	resp, err := t.next.Do(req)
	outcome := c.outcome(resp, err)
	span.SetAttributes(outcome...)
	if kind := errorType(resp, err); kind != "" {
		outcome = append(outcome, attribute.String("error.type", kind))
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, kind)
	}
	set := metric.WithAttributeSet(attribute.NewSet(append(attributes, outcome...)...))
	t.durations[c.service].Record(ctx, since(began), set)
	if c.action == "send" {
		t.sent.Add(ctx, 1, set)
	}
	return resp, err
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

// errorType returns the attribute error.type, "" for a success.
func errorType(resp *http.Response, err error) string {
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
	if code := resp.Header.Get("x-ms-error-code"); code != "" {
		return code
	}
	return strconv.Itoa(resp.StatusCode)
}
