package storagetest

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/fault"
)

// direct is a transport that runs a handler in the sender's goroutine.
type direct struct{ handler http.Handler }

// Do carries out one request as an HTTP server would receive it.
func (d *direct) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nobody wants it
		}
		return nil, err
	}
	if rest.CallFrom(req.Context()) == nil {
		return fault.Wrap(d, nil).Do(req) // finds out what the request is
	}
	fault.Announce(req)
	resp := rest.Carry(d.handler, req)
	fault.AnnounceReply(req)
	return resp, nil
}
