package request

import (
	"cmp"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// parseQueue parses /, /queue, /queue/messages and /queue/messages/id.
func (r *Request) parseQueue() {
	comp := r.Query.Get("comp")
	if r.Path == "" {
		r.Op, r.Refusal = queueService.onService(r.Method, r.Query.Get("restype"), comp, op.QueueStats)
		return
	}
	name, tail, below := strings.Cut(strings.TrimSuffix(r.Path, "/"), "/")
	r.Resource = name
	message, single := strings.CutPrefix(tail, "messages/")
	var refusal *reply.Error
	switch {
	case !below:
		r.Op, refusal = onQueue.find(r.Method, comp, comp)
	case tail == "messages":
		r.Op, refusal = onMessages.find(r.Method, "all", comp)
		if r.Op == op.QueueGet {
			r.Op, refusal = getOrPeek(r.Query.Get("peekonly"))
		}
	case single && message != "" && !strings.Contains(message, "/"):
		r.Message = message
		r.Op, refusal = onMessages.find(r.Method, "one", comp)
	default:
		refusal = reply.InvalidURI("the path is not that of a queue, its messages or a message")
	}
	r.Refusal = cmp.Or(checkName(name), refusal)
}

func getOrPeek(peek string) (op.Op, *reply.Error) {
	switch peek {
	case "true":
		return op.QueuePeek, nil
	case "", "false":
		return op.QueueGet, nil
	}
	return op.QueueGet, reply.InvalidQuery("peekonly", peek, "Not true or false.")
}
