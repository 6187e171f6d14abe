package request

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// parseQueue parses /, /queue, /queue/messages and /queue/messages/id.
func (r *Request) parseQueue() {
	if r.Path == "" {
		r.Op, r.Refusal = queueAccountOp(r.Method, r.Query.Get("restype"), r.Query.Get("comp"))
		return
	}
	name, tail, below := strings.Cut(strings.TrimSuffix(r.Path, "/"), "/")
	r.Resource = name
	message, single := strings.CutPrefix(tail, "messages/")
	var refusal *reply.Error
	switch {
	case !below:
		r.Op, refusal = queueOp(r.Method, r.Query.Get("comp"))
	case tail == "messages":
		r.Op, refusal = messagesOp(r.Method, r.Query.Get("peekonly"))
	case single && message != "" && !strings.Contains(message, "/"):
		r.Message = message
		r.Op, refusal = messageOp(r.Method)
	default:
		refusal = reply.InvalidURI()
	}
	if r.Refusal = checkName(name); r.Refusal == nil {
		r.Refusal = refusal
	}
}

func queueAccountOp(method, restype, comp string) (op.Op, *reply.Error) {
	get := method == http.MethodGet
	switch restype + " " + comp {
	case " list":
		if get {
			return op.QueueList, nil
		}
		return op.QueueOther, reply.UnsupportedVerb()
	case "service properties":
		switch {
		case get:
			return op.QueueGetProperties, nil
		case method == http.MethodPut:
			return op.QueueSetProperties, nil
		}
		return op.QueueOther, reply.UnsupportedVerb()
	case "service stats":
		return op.QueueStats, noStats(comp)
	}
	if comp == "" {
		return op.QueueOther, reply.InvalidURI()
	}
	return op.QueueOther, unknownComp(comp)
}

func queueOp(method, comp string) (op.Op, *reply.Error) {
	read := method == http.MethodGet || method == http.MethodHead
	put := method == http.MethodPut
	switch comp {
	case "":
		switch {
		case put:
			return op.QueueCreate, nil
		case method == http.MethodDelete:
			return op.QueueDrop, nil
		}
	case "metadata":
		switch {
		case read:
			return op.QueueGetMetadata, nil
		case put:
			return op.QueueSetMetadata, nil
		}
	case "acl":
		switch {
		case read:
			return op.QueueGetACL, nil
		case put:
			return op.QueueSetACL, nil
		}
	default:
		return op.QueueOther, unknownComp(comp)
	}
	return op.QueueOther, reply.UnsupportedVerb()
}

func messagesOp(method, peek string) (op.Op, *reply.Error) {
	switch method {
	case http.MethodPost:
		return op.QueuePut, nil
	case http.MethodGet:
		switch peek {
		case "true":
			return op.QueuePeek, nil
		case "", "false":
			return op.QueueGet, nil
		}
		return op.QueueGet, reply.InvalidQuery("peekonly", peek, "Not true or false.")
	case http.MethodDelete:
		return op.QueueClear, nil
	}
	return op.QueueOther, reply.UnsupportedVerb()
}

func messageOp(method string) (op.Op, *reply.Error) {
	switch method {
	case http.MethodPut:
		return op.QueueUpdate, nil
	case http.MethodDelete:
		return op.QueueDelete, nil
	}
	return op.QueueOther, reply.UnsupportedVerb()
}

func unknownComp(comp string) *reply.Error {
	return reply.InvalidQuery("comp", comp, "Unknown operation.")
}

func noStats(comp string) *reply.Error {
	return reply.InvalidQuery("comp", comp, "Statistics are read from the secondary endpoint.")
}
