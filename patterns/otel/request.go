package otel

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// service is a service of a storage account.
type service int

const (
	blobs service = iota
	tables
	queues
)

// call is what a request does, without any key.
type call struct {
	service   service
	kind      trace.SpanKind
	operation string
	action    string // the messaging.operation.type, "" if the conventions have none
	target    string // the table or the queue; "" if the address does not contain it
}

// newCall returns what a request does.
func newCall(req *http.Request) call {
	path := strings.TrimPrefix(req.URL.EscapedPath(), "/")
	host := req.URL.Hostname()
	if host == "localhost" || net.ParseIP(host) != nil { // an emulator: the account is part of the path
		_, path, _ = strings.Cut(path, "/")
	}
	//lint:ignore SA1008 aztables sets the header in this form
	entity := req.Header["DataServiceVersion"] != nil
	switch {
	case path == "$batch" || entity:
		return tableCall(req, path)
	case strings.Contains(host, ".queue.") || strings.HasSuffix(path, "/messages") || strings.Contains(path, "/messages/"):
		return queueCall(req, path)
	}
	return call{service: blobs, kind: trace.SpanKindClient, operation: req.Method}
}

func tableCall(req *http.Request, path string) call {
	c := call{service: tables, kind: trace.SpanKindClient}
	name, key, entity := strings.Cut(path, "(")
	byMethod := map[string]string{http.MethodGet: "QueryTables", http.MethodPost: "CreateTable", http.MethodDelete: "DeleteTable"}
	switch {
	case name == "$batch":
		byMethod = map[string]string{http.MethodPost: "Batch"}
	case name == "Tables":
	case entity && key != ")":
		c.target = name
		byMethod = map[string]string{http.MethodGet: "GetEntity", http.MethodPut: "UpdateEntity", http.MethodPatch: "MergeEntity", "MERGE": "MergeEntity", http.MethodDelete: "DeleteEntity"}
	default:
		c.target = name
		byMethod = map[string]string{http.MethodGet: "QueryEntities", http.MethodPost: "InsertEntity", http.MethodPut: "SetTableACL"}
	}
	if c.operation = byMethod[req.Method]; c.operation == "" {
		c.operation = req.Method
	}
	return c
}

func queueCall(req *http.Request, path string) call {
	name, rest, messages := strings.Cut(path, "/")
	c := call{service: queues, kind: trace.SpanKindClient, target: name, operation: req.Method}
	if !messages {
		return c
	}
	switch {
	case req.Method == http.MethodPost:
		c.kind, c.operation, c.action = trace.SpanKindProducer, "send", "send"
	case req.Method == http.MethodGet && req.URL.Query().Get("peekonly") == "true":
		c.operation, c.action = "peek", "receive"
	case req.Method == http.MethodGet:
		c.operation, c.action = "receive", "receive"
	case req.Method == http.MethodDelete && rest == "messages":
		c.operation, c.action = "clear", "settle"
	case req.Method == http.MethodDelete:
		c.operation, c.action = "delete", "settle"
	case req.Method == http.MethodPut:
		c.operation, c.action = "update", "settle"
	}
	return c
}

// name returns the name of the span.
func (c *call) name() string { return strings.TrimSuffix(c.operation+" "+c.target, " ") }

// attributes returns those of the span and of the metric.
func (c *call) attributes(req *http.Request) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("server.address", req.URL.Hostname())}
	add := func(key, value string) {
		if value != "" {
			all = append(all, attribute.String(key, value))
		}
	}
	if port, err := strconv.Atoi(req.URL.Port()); err == nil {
		all = append(all, attribute.Int("server.port", port))
	}
	switch c.service {
	case tables:
		add("db.system.name", "azure.table_storage")
		add("db.operation.name", c.operation)
		add("db.collection.name", c.target)
	case queues:
		add("messaging.system", "azure.queue_storage")
		add("messaging.operation.name", c.operation)
		add("messaging.operation.type", c.action)
		add("messaging.destination.name", c.target)
	default:
		add("http.request.method", c.operation)
	}
	return all
}
