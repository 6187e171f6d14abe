package fault

import (
	"net/http"
	"net/http/httptrace"
)

// Announce calls the hooks of the request's httptrace.ClientTrace that net/http
// calls when it looks for a connection, has it, and has written the request. A transport
// without connections uses it, so that whoever counts attempts counts its own.
func Announce(req *http.Request) {
	trace := httptrace.ContextClientTrace(req.Context())
	if trace == nil {
		return
	}
	if trace.GetConn != nil {
		port := ""
		if req.URL.Port() == "" {
			port = pick(req.URL.Scheme == "https", ":443", ":80")
		}
		trace.GetConn(req.URL.Host + port)
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

// AnnounceReply calls the hook that net/http calls when the first byte of a reply is
// there.
func AnnounceReply(req *http.Request) {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
}
