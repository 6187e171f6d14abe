package calls

import (
	"net/http"
	"net/http/httptrace"
)

// TraceRequest calls the hooks GetConn, GotConn and WroteRequest of the request's
// httptrace.ClientTrace, as net/http does. A transport without connections calls it so that
// attempts can be counted in the same way.
func TraceRequest(req *http.Request) {
	trace := httptrace.ContextClientTrace(req.Context())
	if trace == nil {
		return
	}
	if trace.GetConn != nil {
		port := ""
		if req.URL.Port() == "" {
			port = ":80"
			if req.URL.Scheme == "https" {
				port = ":443"
			}
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

// TraceReply calls the hook that net/http calls when the first byte of a reply
// arrives.
func TraceReply(req *http.Request) {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
}
