package otel

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"github.com/azpatterns/azpatterns/internal/target"
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
	account   string
	operation string
	action    string // the messaging.operation.type, "" if the conventions have none
	target    string // the table or the queue; "" if the request is for none
	size      int    // operations of an entity group transaction
	class     string // of a query
}

// requests are those that nothing reads into.
var requests = sync.Pool{New: func() any { return target.NewRequest() }}

// newCall returns what a request does, which r has read.
func newCall(r *target.Request, req *http.Request) call {
	resource := string(r.In(r.Resource))
	c := call{account: r.Account, operation: req.Method}
	switch resource[0] {
	case 't':
		c.service, c.target, c.size = tables, resource[1:], r.Entities
		if r.Kind == target.Query && r.Class > 0 {
			c.class = r.Class.String()
		}
		c.table(r.Kind)
	case 'q':
		c.service, c.target = queues, resource[1:]
		c.queue(req)
	}
	return c
}

// tableOperations are the names of the service for its requests.
var tableOperations = map[target.Action]map[string]string{
	target.Read:  {http.MethodGet: "GetEntity"},
	target.Query: {http.MethodGet: "QueryEntities"},
	target.Batch: {http.MethodPost: "BATCH"}, // the conventions for entity group transactions
	target.Write: {http.MethodPost: "InsertEntity", http.MethodPut: "UpdateEntity", http.MethodPatch: "MergeEntity", "MERGE": "MergeEntity", http.MethodDelete: "DeleteEntity"},
	target.Other: {http.MethodGet: "GetTableACL", http.MethodPut: "SetTableACL"},
}

func (c *call) table(kind target.Action) {
	operations := tableOperations[kind]
	switch c.target {
	case "Tables":
		c.target = ""
		operations = map[string]string{http.MethodGet: "QueryTables", http.MethodPost: "CreateTable", http.MethodDelete: "DeleteTable"}
	case "$batch": // without operations
		c.target = ""
	case "":
		operations = nil
	}
	if name := operations[c.operation]; name != "" {
		c.operation = name
	}
}

// queueOperations are the names of the service for requests to a queue and, without a queue, to the
// account, by the parameter comp.
var queueOperations = map[string]map[string]string{
	"":           {http.MethodPut: "CreateQueue", http.MethodDelete: "DeleteQueue"},
	"metadata":   {http.MethodGet: "GetQueueMetadata", http.MethodHead: "GetQueueMetadata", http.MethodPut: "SetQueueMetadata"},
	"acl":        {http.MethodGet: "GetQueueACL", http.MethodHead: "GetQueueACL", http.MethodPut: "SetQueueACL"},
	"list":       {http.MethodGet: "ListQueues"},
	"properties": {http.MethodGet: "GetQueueServiceProperties", http.MethodPut: "SetQueueServiceProperties"},
	"stats":      {http.MethodGet: "GetQueueServiceStats"},
}

func (c *call) queue(req *http.Request) {
	_, message, messages := strings.Cut(req.URL.Path, "/messages")
	switch {
	case !messages:
		c.operation = cmp.Or(queueOperations[req.URL.Query().Get("comp")][req.Method], req.Method)
	case req.Method == http.MethodPost:
		c.operation, c.action = "send", "send"
	case req.Method == http.MethodGet && req.URL.Query().Get("peekonly") == "true":
		c.operation, c.action = "peek", "receive"
	case req.Method == http.MethodGet:
		c.operation, c.action = "receive", "receive"
	case req.Method == http.MethodDelete && message == "":
		c.operation, c.action = "clear", "settle"
	case req.Method == http.MethodDelete:
		c.operation, c.action = "delete", "settle"
	case req.Method == http.MethodPut:
		c.operation = "update" // renews a lease, or ends it: no type of the conventions
	}
}

// name returns the name of the span.
func (c *call) name() string { return strings.TrimSuffix(c.operation+" "+c.target, " ") }

// attributes returns those of the span and of the metric.
func (c *call) attributes(to *url.URL) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 8) // with those of the outcome
	add := func(key, value string) {
		if value != "" {
			all = append(all, attribute.String(key, value))
		}
	}
	add("server.address", to.Hostname())
	port := to.Port()
	switch c.service {
	case tables:
		add("db.system.name", "azure.table_storage")
		add("db.namespace", c.account)
		add("db.operation.name", c.operation)
		add("db.collection.name", c.target)
	case queues:
		add("messaging.system", "azure.queue_storage")
		add("messaging.operation.name", c.operation)
		add("messaging.operation.type", c.action)
		add("messaging.destination.name", c.target)
	default:
		add("http.request.method", c.operation)
		if port == "" { // the conventions for HTTP require it
			port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
		}
	}
	if n, err := strconv.Atoi(port); err == nil {
		all = append(all, attribute.Int("server.port", n))
	}
	return all
}
