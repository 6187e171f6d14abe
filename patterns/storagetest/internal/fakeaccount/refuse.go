package fakeaccount

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// refuse replies to a request that does not reach its service. The Table service has no
// element for the detail of an error, so it becomes a line of the message.
func (a *Account) refuse(w http.ResponseWriter, r *request.Request, e *reply.Error) {
	h := w.Header()
	now := r.Time()
	id := reply.Head(h, r.Header, "storagetest", now)
	odata := r.Service == op.Table
	if odata && len(e.Detail) > 1 {
		e = e.Because(e.Detail[1])
	}
	body := e.Refuse(h, odata, r.Query.Has("comp"), id, now)
	w.WriteHeader(e.Status)
	reply.Write(w, body)
}
