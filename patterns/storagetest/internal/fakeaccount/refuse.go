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
	for name, values := range e.Header {
		h[name] = values
	}
	message := e.Message
	if r.Service == op.Table && len(e.Detail) > 1 {
		message += "\nstoragetest: " + e.Detail[1]
	}
	var body []byte
	switch {
	case r.Service != op.Table:
		h.Set("Content-Type", "application/xml")
		h.Set("X-Ms-Error-Code", e.Code)
		body = reply.StorageXMLError(e.Code, message, id, now, e.Detail...)
	case r.Query.Has("comp"):
		h.Set("Content-Type", "application/xml")
		body = reply.ODataXMLError(e.Code, message, id, now)
	default:
		h.Set("Content-Type", "application/json;odata=minimalmetadata;streaming=true;charset=utf-8")
		body = reply.ODataError(e.Code, message, id, now)
	}
	w.WriteHeader(e.Status)
	reply.Write(w, body)
}
