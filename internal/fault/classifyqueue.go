package fault

import (
	"net/http"
	"net/url"
	"strings"
)

func (q *Request) queue(req *http.Request, path string, query url.Values) {
	q.Op = QueueOther
	name, rest, messages := strings.Cut(path, "/")
	q.Resource = name
	put := req.Method == http.MethodPut
	switch comp := query.Get("comp"); {
	case name == "" && comp == "list":
		q.Op = QueueList
	case name == "" && comp == "properties":
		q.Op = pick(put, QueueSetProperties, QueueGetProperties)
	case name == "" && comp == "stats":
		q.Op = QueueStats
	case name == "":
	case messages:
		q.Op = messageOp(req.Method, rest, query)
	case comp == "acl":
		q.Op = pick(put, QueueSetACL, QueueGetACL)
	case comp == "metadata":
		q.Op = pick(put, QueueSetMetadata, QueueGetMetadata)
	case put:
		q.Op = QueueCreate
	case req.Method == http.MethodDelete:
		q.Op = QueueDrop
	}
}

func messageOp(method, rest string, query url.Values) Op {
	one := strings.Contains(rest, "/")
	switch method {
	case http.MethodPost:
		return QueuePut
	case http.MethodGet:
		return pick(query.Get("peekonly") == "true", QueuePeek, QueueGet)
	case http.MethodPut:
		return QueueUpdate
	case http.MethodDelete:
		return pick(one, QueueDelete, QueueClear)
	}
	return QueueOther
}
