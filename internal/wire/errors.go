package wire

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// fail returns the error of a call for what the SDK returned.
func (c *call) fail(op string, err error) *types.Error {
	e := sdkerr.New(op, err)
	var m *edm.MalformedError
	if e.Kind == nil && (errors.As(err, &m) || errors.Is(err, azerr.ErrBadReply) || c.unreadable(err)) {
		e.Kind = azerr.ErrBadReply
	}
	e.Unsure = c.write && !c.unsent(err) && (c.earlierTryOpen() || !definite(e.Status, e.Code, err))
	e.Unanswered = e.Unsure && c.unanswered()
	return e
}

// unreadable reports whether err is aztables' failure to read a reply of success.
func (c *call) unreadable(err error) bool {
	return !c.received && c.resp != nil && c.resp.StatusCode < http.StatusBadRequest &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// definite reports whether the outcome of a try is known: from its reply, or because
// it had no error or failed before anything was sent. Every transport error except a
// failed dial leaves the outcome open.
func definite(status int, code string, err error) bool {
	if status != 0 {
		return sdkerr.Definite(status, code)
	}
	if err == nil {
		return true
	}
	var op *net.OpError
	return azerr.IsUnsent(err) || errors.As(err, &op) && op.Op == "dial"
}

// checkContext returns the context's error as an [types.Error], before anything is sent.
func checkContext(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return &types.Error{Op: op, Err: err}
	}
	return nil
}
