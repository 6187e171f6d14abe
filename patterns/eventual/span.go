package eventual

import (
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

const (
	tracerName = "azpatterns/eventual"
	messageID  = "messaging.message.id"
)

// queueName returns the name of a client's queue.
func queueName(client *azqueue.QueueClient) string {
	address, _, _ := strings.Cut(client.URL(), "?")
	return address[strings.LastIndexByte(address, '/')+1:]
}

// spanAttributes returns those with which a span begins.
//
// https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
func spanAttributes(queue, operation, operationType, kind string) []tracing.Attribute {
	return []tracing.Attribute{
		{Key: "messaging.system", Value: "azure.queue_storage"},
		{Key: "messaging.operation.name", Value: operation},
		{Key: "messaging.operation.type", Value: operationType},
		{Key: "messaging.destination.name", Value: queue},
		{Key: "azpatterns.job.kind", Value: kind},
	}
}

// begin begins the span of an Enqueue.
func (o *EnqueueOptions) begin(ctx context.Context, client *azqueue.QueueClient, kind string) (context.Context, tracing.Span) {
	tracer := o.Tracing.NewTracer(tracerName, "")
	if !tracer.Enabled() {
		return ctx, tracing.Span{}
	}
	name := queueName(client)
	return tracer.Start(ctx, "enqueue "+name, &tracing.SpanOptions{
		Kind: tracing.SpanKindProducer, Attributes: spanAttributes(name, "enqueue", "create", kind),
	})
}

// add adds the message of an Enqueue, and its id to the span, if there is one.
func (o *EnqueueOptions) add(ctx context.Context, to queue, text string, span tracing.Span) error {
	if !o.Tracing.NewTracer(tracerName, "").Enabled() {
		return to.add(ctx, text, o.Delay, o.TTL)
	}
	id, _, err := to.put(ctx, text, o.Delay, o.TTL)
	if id != "" {
		span.SetAttributes(tracing.Attribute{Key: messageID, Value: id})
	}
	return err
}

// begin begins the span of an attempt.
func (d *delivery) begin(ctx context.Context) (context.Context, tracing.Span) {
	if !d.w.tracer.Enabled() {
		return ctx, tracing.Span{}
	}
	attributes := append(spanAttributes(d.w.name, "process", "process", d.env.Kind),
		tracing.Attribute{Key: "azpatterns.job.id", Value: d.env.ID},
		tracing.Attribute{Key: "azpatterns.job.attempt", Value: int64(d.attempt)})
	if d.m.id != "" { // the message of a host has none here
		attributes = append(attributes, tracing.Attribute{Key: messageID, Value: d.m.id})
	}
	if d.env.Trace != "" {
		attributes = append(attributes, tracing.Attribute{Key: calls.TraceAttribute, Value: d.env.Trace})
	}
	return d.w.tracer.Start(ctx, "process "+d.w.name, &tracing.SpanOptions{Kind: tracing.SpanKindConsumer, Attributes: attributes})
}

// postponed reports whether an attempt ended with an error that is no failure.
func postponed(err error) bool {
	return errors.As(err, new(*snoozeError)) || errors.As(err, new(*lateCheckError))
}

// failSpan sets the status of a span and its attribute error.type. The text of err contains no
// key and no value.
func failSpan(span tracing.Span, err error) {
	kind := sdkerr.TraceType(err)
	if errors.As(err, new(*PanicError)) {
		kind = "panic"
	}
	span.SetAttributes(tracing.Attribute{Key: "error.type", Value: kind})
	span.SetStatus(tracing.SpanStatusError, err.Error())
}
