package calls

import "context"

type traceKey struct{}

// WithTrace returns a context in which [TraceOf] calls describe, so that messages contain the
// trace of the current span although the library does not depend on OpenTelemetry. It returns
// ctx if that has a function already.
func WithTrace(ctx context.Context, describe func(context.Context) string) context.Context {
	if ctx.Value(traceKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, describe)
}

// TraceOf returns the header traceparent of W3C for the span of ctx, "" if there is none.
//
// https://www.w3.org/TR/trace-context/#traceparent-header
func TraceOf(ctx context.Context) string {
	if describe, ok := ctx.Value(traceKey{}).(func(context.Context) string); ok {
		return describe(ctx)
	}
	return ""
}

// TraceAttribute is the name of the attribute with which the span of an attempt begins, if the
// message contains a trace. A provider makes a link of it.
const TraceAttribute = "azpatterns.job.traceparent"
