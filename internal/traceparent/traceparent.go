// Package traceparent carries the trace of the current span into messages. The library does
// not depend on OpenTelemetry, so a provider of spans puts a function into the context that
// describes its span.
package traceparent

import "context"

type key struct{}

// With returns a context in which [Of] calls describe. It returns ctx if that has a function
// already.
func With(ctx context.Context, describe func(context.Context) string) context.Context {
	if ctx.Value(key{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, describe)
}

// Of returns the header traceparent of W3C for the span of ctx, "" if there is none.
//
// https://www.w3.org/TR/trace-context/#traceparent-header
func Of(ctx context.Context) string {
	if describe, ok := ctx.Value(key{}).(func(context.Context) string); ok {
		return describe(ctx)
	}
	return ""
}

// Attribute is the name of the attribute with which the span of an attempt begins, if the
// message contains a trace. A provider makes a link of it.
const Attribute = "azpatterns.job.traceparent"
