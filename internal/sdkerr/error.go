package sdkerr

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// New returns the Error of the operation op for err, which the SDK returned. If err is
// a reply of the service, Status, Code and Kind are those of the reply.
func New(op string, err error) *types.Error {
	e := &types.Error{Op: op, Err: err}
	var reply *azcore.ResponseError
	if errors.As(err, &reply) {
		e.Status, e.Code = reply.StatusCode, reply.ErrorCode
		e.Kind = Classify(reply.StatusCode, reply.ErrorCode)
	}
	return e
}

// WithKind returns a copy of e that matches kind instead.
func WithKind(e *types.Error, kind error) *types.Error {
	c := *e
	c.Kind = kind
	return &c
}

// TraceType returns the value of the attribute error.type of a span whose operation failed.
func TraceType(err error) string {
	var e *types.Error
	switch {
	case errors.Is(err, azerr.ErrOutcomeUnknown):
		return "OutcomeUnknown"
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "_OTHER"
}
