package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// Span is the span of an operation, which may take several requests. nil is no span.
type Span struct {
	client *Client
	span   tracing.Span
	err    error
	rows   int
}

// Begin begins the span of an operation, named by the concatenation of both texts, if the
// client has a tracer. The attributes are those of OpenTelemetry for databases. None contains
// a key or a value.
//
// https://opentelemetry.io/docs/specs/semconv/database/database-spans/
func (c *Client) Begin(ctx context.Context, of, op string) (context.Context, *Span) {
	if !c.Tracer.Enabled() {
		return ctx, nil
	}
	return c.begin(ctx, of+op)
}

func (c *Client) begin(ctx context.Context, op string) (context.Context, *Span) {
	ctx, span := c.Tracer.Start(ctx, op, &tracing.SpanOptions{Kind: tracing.SpanKindInternal, Attributes: []tracing.Attribute{
		{Key: "db.system.name", Value: "azure.table_storage"},
		{Key: "db.operation.name", Value: op},
	}})
	return ctx, &Span{client: c, span: span}
}

// Fail keeps the error of the operation for the end of the span. err may be nil.
func (s *Span) Fail(err error) {
	if s != nil {
		s.err = err
	}
}

// Found is Fail for the read of one row: that there is none is a result, not a failure.
func (s *Span) Found(err error) {
	if err == nil {
		s.Rows(1)
	} else if !errors.Is(err, azerr.ErrNotFound) {
		s.Fail(err)
	}
}

// Rows adds to the rows that the operation has read.
func (s *Span) Rows(n int) {
	if s != nil {
		s.rows += n
	}
}

// Plan sets what the service has to read for the filter of the operation: the class of the most
// expensive read, and the number of reads.
func (s *Span) Plan(class fmt.Stringer, reads int) {
	if s != nil {
		s.span.SetAttributes(tracing.Attribute{Key: "azpatterns.query.class", Value: class.String()},
			tracing.Attribute{Key: "azpatterns.query.reads", Value: int64(reads)})
	}
}

// End ends the span. It is deferred, so that a span ends also if a function of the caller
// panics. The name of the table is known by then, unless there was no request.
func (s *Span) End() {
	if s == nil {
		return
	}
	if a, ok := s.client.Address(); ok {
		s.span.SetAttributes(tracing.Attribute{Key: "db.collection.name", Value: a.Table()})
	}
	if s.err != nil {
		endError(s.span, s.err)
	}
	s.span.End()
}

// EndRead ends the span of an operation that reads, with the number of rows.
func (s *Span) EndRead() {
	if s != nil {
		s.span.SetAttributes(tracing.Attribute{Key: "db.response.returned_rows", Value: int64(s.rows)})
		s.End()
	}
}

// endError sets the status of a span whose operation failed, and its attribute error.type.
func endError(span tracing.Span, err error) {
	span.SetAttributes(tracing.Attribute{Key: "error.type", Value: sdkerr.TraceType(err)})
	span.SetStatus(tracing.SpanStatusError, azerr.Describe(err))
}
