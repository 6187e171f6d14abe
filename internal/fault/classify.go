package fault

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Service is one of the three services, or "" where a request is for none.
type Service string

// The services, as they begin the names of operations.
const (
	Table Service = "Table"
	Queue Service = "Queue"
	Blob  Service = "Blob"
)

// azuritePorts are the ports on which Azurite listens unless told otherwise.
var azuritePorts = map[string]Service{"10000": Blob, "10001": Queue, "10002": Table}

type serviceKey struct{}

// WithService returns a context that says which service a request is for,
// whatever its host tells.
func WithService(ctx context.Context, s Service) context.Context {
	return context.WithValue(ctx, serviceKey{}, s)
}

// serviceOf finds the service that a request is for, by its host, by what the
// transport was told about the host, or by the SDK package that sends it.
func (t *Transport) serviceOf(req *http.Request) Service {
	if s, ok := req.Context().Value(serviceKey{}).(Service); ok {
		return s
	}
	host := req.URL.Host
	switch {
	case strings.Contains(host, ".table."):
		return Table
	case strings.Contains(host, ".queue."):
		return Queue
	case strings.Contains(host, ".blob."):
		return Blob
	}
	if s, ok := t.opts.Services[host]; ok {
		return s
	}
	if s, ok := azuritePorts[req.URL.Port()]; ok {
		return s
	}
	agent := req.Header.Get("User-Agent")
	switch {
	case strings.Contains(agent, "tables"):
		return Table
	case strings.Contains(agent, "azqueue"):
		return Queue
	case strings.Contains(agent, "azblob"):
		return Blob
	}
	return ""
}

// classify fills in what the address of a request tells.
func (t *Transport) classify(q *Request, req *http.Request) {
	q.Service = t.serviceOf(req)
	path := strings.TrimPrefix(req.URL.Path, "/")
	if pathStyle(req.URL) {
		_, path, _ = strings.Cut(path, "/")
	}
	var query url.Values
	if req.URL.RawQuery != "" {
		query = req.URL.Query()
	}
	switch q.Service {
	case Table:
		q.table(req, path, query)
	case Queue:
		q.queue(req, path, query)
	case Blob:
		q.blob(req, path, query)
	default:
		q.Op = Unknown
	}
}

// pathStyle reports whether the account stands in the path, as it does where
// the host is an IP address or localhost.
func pathStyle(u *url.URL) bool {
	name := u.Hostname()
	if strings.Contains(name, ".table.") || strings.Contains(name, ".queue.") || strings.Contains(name, ".blob.") {
		return false
	}
	return !strings.Contains(name, ".") || net.ParseIP(name) != nil
}

func (q *Request) table(req *http.Request, path string, query url.Values) {
	method := req.Method
	if over := req.Header.Get("X-HTTP-Method"); over != "" && method == http.MethodPost {
		method = strings.ToUpper(over)
	}
	name, args, parens := strings.Cut(path, "(")
	conditional := req.Header.Get("If-Match") != ""
	q.Op = TableOther
	switch comp := query.Get("comp"); {
	case comp == "acl":
		q.Op, q.Resource = pick(method == http.MethodPut, TableSetACL, TableGetACL), name
		return
	case comp == "properties":
		q.Op = pick(method == http.MethodPut, TableSetProperties, TableGetProperties)
		return
	case comp == "stats":
		q.Op = TableStats
		return
	case name == "$batch":
		q.Op = TableBatch
		return
	case strings.EqualFold(name, "Tables"):
		q.tables(method, strings.Trim(args, "')"))
		return
	case name == "":
		return
	}
	q.Resource = name
	keyed := parens && args != ")"
	if keyed {
		if k, ok := parseKeys(args); ok {
			q.Rows = append(q.Rows, k)
		}
	}
	switch method {
	case http.MethodGet:
		q.Op = pick(keyed, TableGet, TableQuery)
	case http.MethodPost:
		q.Op = TableInsert
	case http.MethodPut:
		q.Op = pick(conditional, TableReplace, TableUpsertReplace)
	case http.MethodPatch, "MERGE":
		q.Op = pick(conditional, TableMerge, TableUpsertMerge)
	case http.MethodDelete:
		q.Op = TableDelete
	}
}

func (q *Request) tables(method, name string) {
	q.Resource = name
	switch method {
	case http.MethodGet:
		q.Op = TableList
	case http.MethodPost:
		q.Op = TableCreate
	case http.MethodDelete:
		q.Op = TableDrop
	}
}

func pick[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// parseKeys reads "PartitionKey='…',RowKey='…')".
func parseKeys(args string) (Key, bool) {
	args, ok := strings.CutPrefix(args, "PartitionKey='")
	if !ok {
		return Key{}, false
	}
	partition, args, ok := strings.Cut(args, "',RowKey='")
	if !ok {
		return Key{}, false
	}
	row, ok := strings.CutSuffix(args, "')")
	return Key{
		Partition: strings.ReplaceAll(partition, "''", "'"),
		Row:       strings.ReplaceAll(row, "''", "'"),
	}, ok
}
