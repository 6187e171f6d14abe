package pages

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

var (
	errCircle = azerr.Sentinel("continuation tokens that go in a circle")
	errPanic  = azerr.Sentinel("a page that the SDK cannot decode")
)

// List reads the pages of pager to the end. marker returns the continuation token of a
// page, nil or "" for the last. The last pair has an [*types.Error] if the list cannot be
// read to its end. One request for each page; a page may be empty although more follow.
func List[P any](ctx context.Context, op string, pager *runtime.Pager[P], marker func(*P) *string) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		var loop Loop
		for pager.More() {
			page, err := next(ctx, op, pager)
			if token := marker(&page); err == nil && token != nil && *token != "" {
				if loop, err = loop.Next(*token); err != nil {
					err = &types.Error{Op: op, Kind: azerr.ErrBadReply, Err: err}
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// next requests the next page.
func next[P any](ctx context.Context, op string, pager *runtime.Pager[P]) (page P, err error) {
	if err := ctx.Err(); err != nil {
		return page, &types.Error{Op: op, Err: err}
	}
	err = Call(ctx, op, func(ctx context.Context) (err error) {
		page, err = pager.NextPage(ctx)
		return err
	})
	return page, err
}

// Call calls send, which makes one call of the SDK that reads, and returns its error as an
// [*types.Error]. A reply of success that the SDK cannot decode, or on which it panics, is
// an [azerr.ErrBadReply].
func Call(ctx context.Context, op string, send func(context.Context) error) error {
	calls.CountRequest(ctx)
	var resp *http.Response
	err := guarded(policy.WithCaptureResponse(ctx, &resp), &resp, send)
	PassOn(ctx, resp)
	if err == nil {
		return nil
	}
	e := sdkerr.New(op, err)
	if e.Status == 0 && resp != nil && resp.StatusCode < http.StatusBadRequest && ctx.Err() == nil {
		e.Kind = azerr.ErrBadReply
	}
	return e
}

// guarded calls send and turns a panic into an error if a reply has arrived.
func guarded(ctx context.Context, resp **http.Response, send func(context.Context) error) (err error) {
	defer func() {
		if *resp == nil {
			return // not caused by a reply
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %T", errPanic, p)
		}
	}()
	return send(ctx)
}
