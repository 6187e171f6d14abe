package otel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/azpatterns/azpatterns/internal/calls"
)

// Provider returns a provider for the Tracing of patterns.TableOptions, eventual.Options and
// eventual.EnqueueOptions. It creates the spans of operations, attempts and messages, and
// records their durations. Do not set it as ClientOptions.TracingProvider: that would turn off the
// shortcut of accelerated calls, and the spans of the SDK contain addresses with keys. Use
// [Telemetry.Attach] instead. That of a nil or zero Telemetry creates no spans.
func (t *Telemetry) Provider() tracing.Provider {
	if t == nil || t.bridge == nil {
		return tracing.Provider{}
	}
	return tracing.NewProvider(func(string, string) tracing.Tracer {
		return tracing.NewTracer(t.bridge.start, nil)
	}, nil)
}

func newBridge(m metric.Meter, tracer trace.Tracer) (*bridge, error) {
	b := &bridge{tracer: tracer}
	var errs [4]error
	b.durations[trace.SpanKindInternal], errs[0] = seconds(m, "azpatterns.operation.duration", "Duration of operations of tables and stores.", databaseBoundaries)
	b.durations[trace.SpanKindConsumer], errs[1] = seconds(m, "messaging.process.duration", "Duration of processing operation.", otherBoundaries)
	b.durations[trace.SpanKindProducer], errs[2] = seconds(m, "messaging.client.operation.duration", clientDuration, otherBoundaries)
	b.consumed, errs[3] = m.Int64Counter("messaging.client.consumed.messages",
		metric.WithUnit("{message}"), metric.WithDescription("Number of messages that were delivered to the application."))
	return b, errors.Join(errs[:]...)
}

// bridge creates the spans of the SDK's tracing package as OpenTelemetry spans.
type bridge struct {
	tracer    trace.Tracer
	durations [trace.SpanKindConsumer + 1]metric.Float64Histogram // by kind
	consumed  metric.Int64Counter
}

const clientDuration = "Duration of messaging operation initiated by a producer or consumer client."

// describe returns the header traceparent for the span of ctx.
func describe(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// linked returns a link to the span that a header traceparent describes.
func linked(header string) (trace.Link, bool) {
	carrier := propagation.MapCarrier{"traceparent": header}
	link := trace.LinkFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	return link, link.SpanContext.IsValid()
}

func (b *bridge) start(ctx context.Context, name string, o *tracing.SpanOptions) (context.Context, tracing.Span) {
	kind := trace.SpanKindInternal
	switch o.Kind {
	case tracing.SpanKindConsumer:
		kind = trace.SpanKindConsumer
	case tracing.SpanKindProducer:
		kind = trace.SpanKindProducer
	}
	var links []trace.Link
	attributes := slices.DeleteFunc(converted(o.Attributes), func(a attribute.KeyValue) bool {
		if a.Key != calls.TraceAttribute {
			return false
		}
		if link, ok := linked(a.Value.AsString()); ok {
			links = append(links, link)
		}
		return true
	})
	s := &span{bridge: b, kind: kind, began: time.Now(), attributes: attributes}
	s.ctx, s.span = b.tracer.Start(calls.WithTrace(ctx, describe), name,
		trace.WithSpanKind(kind), trace.WithAttributes(s.attributes...), trace.WithLinks(links...))
	return s.ctx, tracing.NewSpan(tracing.SpanImpl{
		End:           s.end,
		SetAttributes: s.set,
		AddEvent: func(name string, attributes ...tracing.Attribute) {
			s.span.AddEvent(name, trace.WithAttributes(converted(attributes)...))
		},
		SetStatus: func(status tracing.SpanStatus, text string) {
			if status == tracing.SpanStatusError {
				s.span.SetStatus(codes.Error, text)
			}
		},
	})
}

// span is a span that was started. Its methods may be called concurrently.
type span struct {
	*bridge
	ctx   context.Context
	span  trace.Span
	kind  trace.SpanKind
	began time.Time

	mu         sync.Mutex
	attributes []attribute.KeyValue
}

func (s *span) set(attributes ...tracing.Attribute) {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := converted(attributes)
	s.attributes = append(s.attributes, added...)
	s.span.SetAttributes(added...)
}

// ofOne are the attributes of spans that identify or measure a single operation or message. Metrics
// have none of them.
var ofOne = []attribute.Key{
	"azpatterns.job.id", "azpatterns.job.attempt", "messaging.message.id", "db.response.returned_rows", "azpatterns.query.reads",
}

// end ends the span and records its duration.
func (s *span) end() {
	took := since(s.began)
	s.span.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []attribute.KeyValue
	for _, a := range s.attributes {
		if !slices.Contains(ofOne, a.Key) {
			kept = append(kept, a)
		}
	}
	set := metric.WithAttributeSet(attribute.NewSet(kept...))
	s.durations[s.kind].Record(s.ctx, took, set)
	if s.kind == trace.SpanKindConsumer {
		s.consumed.Add(s.ctx, 1, set)
	}
}

func converted(attributes []tracing.Attribute) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(attributes))
	for _, a := range attributes {
		switch v := a.Value.(type) {
		case string:
			all = append(all, attribute.String(a.Key, v))
		case int64:
			all = append(all, attribute.Int64(a.Key, v))
		case int:
			all = append(all, attribute.Int(a.Key, v))
		case bool:
			all = append(all, attribute.Bool(a.Key, v))
		case float64:
			all = append(all, attribute.Float64(a.Key, v))
		default:
			all = append(all, attribute.String(a.Key, fmt.Sprint(v)))
		}
	}
	return all
}
