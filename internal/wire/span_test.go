package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

func TestAClientWithoutATracerMakesNoSpansAndAllocatesNothing(t *testing.T) {
	ctx, c := t.Context(), NewClient(nil)
	allocs := testing.AllocsPerRun(100, func() {
		inner, span := c.Begin(ctx, "table.", "get")
		span.Fail(azerr.ErrNotFound)
		span.End()
		assert.Equal(t, inner, ctx)
		assert.Equal(t, span, nil)
	})
	assert.Equal(t, allocs, 0, "allocations")
}

func TestTheSpanOfAnOperationHasItsErrorWithoutKeys(t *testing.T) {
	const secret = "secret"
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{fmt.Errorf("get: %w", &types.Error{Code: "ResourceNotFound", Err: errors.New(secret)}), "ResourceNotFound"},
		{fmt.Errorf("%w: %w", azerr.ErrOutcomeUnknown, errors.New(secret)), "OutcomeUnknown"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
		{errors.New(secret), "_OTHER"},
	} {
		var set []tracing.Attribute
		status, ended := "", 0
		c := NewClient(nil)
		c.Tracer = tracing.NewTracer(func(ctx context.Context, name string, o *tracing.SpanOptions) (context.Context, tracing.Span) {
			assert.Equal(t, name, "table.get")
			return ctx, tracing.NewSpan(tracing.SpanImpl{
				End:           func() { ended++ },
				SetAttributes: func(a ...tracing.Attribute) { set = append(set, a...) },
				SetStatus:     func(_ tracing.SpanStatus, text string) { status = text },
			})
		}, nil)
		_, span := c.Begin(t.Context(), "table.", "get")
		span.Fail(test.err)
		span.End()
		var want []tracing.Attribute
		if test.want != "" {
			want = []tracing.Attribute{{Key: "error.type", Value: test.want}}
		}
		if !slices.Equal(set, want) || ended != 1 || (status != "") != (test.want != "") || strings.Contains(status, secret) {
			t.Errorf("%v: %v, %q, ended %d times", test.err, set, status, ended)
		}
	}
}
