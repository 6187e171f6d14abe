package target

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// maxText is how many bytes of a key are read. A legal key has at most 512 UTF-16 code units.
const maxText = 4 << 10

// Action is what a request does to its table, queue or container.
type Action uint8

const (
	Other Action = iota // changes or lists tables, queues, containers, or their settings
	Read                // one row or blob, by its key
	Query               // one page
	Write               // one row, message or blob
	Batch               // an entity group transaction
	Poll                // receives messages
)

// TextSpan is a part of the text of a [Request], see [Request.In].
type TextSpan struct{ from, to int32 }

// Request is what can be read from one try of a request. Its keys are texts: a letter for the
// service and the name of the resource, the partition key, and the row key, separated by
// U+0000, which is not legal in a key. Requests can be pooled, so that reading them allocates
// nothing. [NewRequest] makes one. A Request is for one goroutine at a time.
type Request struct {
	requestContent
	Account string     // of the request
	Rows    []TextSpan // one for each of the entities, or for one of Every

	text   []byte
	window *[16 << 10]byte // of the body
	shape  *requestShape   // of the filter of the last query
	host   string          // of the last request
	name   string          // of the account, with which the host begins
	letter byte            // of the service, see serviceOf
	pages  []pageCount     // not used yet
}

// requestContent is what Read sets anew.
type requestContent struct {
	Kind      Action
	Class     query.Class // of a query; 0 if its filter is invalid
	Filtered  bool        // a query with a condition that the keys do not answer
	Next      bool        // a later page of a query
	Resource  TextSpan
	Partition TextSpan // empty without a partition key
	Low, High TextSpan // between which a query reads
	Entities  int      // rows, messages or blobs that are addressed; at most 1 in a query
	Every     int      // one of so many entities is in Rows

	waits bool // a key of the last row is in the JSON that follows
}

// NewRequest returns a Request to read into.
func NewRequest() *Request { return &Request{window: new([16 << 10]byte)} }

// Touch returns the Request for a row, or for the queries of a partition.
func Touch(kind Action, table, partition, row string) *Request {
	r := &Request{requestContent: requestContent{Kind: kind, Every: 1}}
	begin(r, 't', table)
	r.Partition = extend(r, r.Resource, 0, partition)
	r.Low, r.High = r.Partition, r.Partition
	if kind != Query {
		r.add(extend(r, r.Partition, 0, row))
	}
	return r
}

// Read reads what raw is about to send. It changes nothing: a body is read only if it can
// be rewound.
func (r *Request) Read(raw *http.Request) {
	r.requestContent = requestContent{Every: 1}
	r.text, r.Rows = r.text[:0], r.Rows[:0]
	if r.host != raw.URL.Host {
		r.host, r.letter = raw.URL.Host, serviceOf(raw.URL.Host)
		r.name, _, _ = strings.Cut(r.host, ".")
	}
	service, path := r.letter, raw.URL.Path
	r.Account = r.name
	below := strings.TrimPrefix(path, "/")
	if service == 0 { // an emulator's path starts with the account
		r.Account, below, _ = strings.Cut(below, "/")
	}
	switch {
	case service == 't' || service == 0 && (strings.HasSuffix(path, "/$batch") || acceptsJSON(raw)):
		r.table(raw, path)
	case service == 'q' || service == 0 && strings.Contains(path, "/messages"):
		r.queue(raw.Method, path)
	default:
		r.blob(raw.Method, below)
	}
}

// serviceOf returns the first letter of the service in the name of a host, or 0.
func serviceOf(host string) byte {
	for _, service := range [...]string{".table.", ".queue.", ".blob."} {
		if strings.Contains(host, service) {
			return service[1]
		}
	}
	return 0
}

func acceptsJSON(raw *http.Request) bool {
	accept := raw.Header["Accept"]
	return len(accept) > 0 && strings.HasPrefix(accept[0], "application/json")
}

func (r *Request) table(raw *http.Request, path string) {
	before, keys, addressed := strings.Cut(path, "(")
	name := before[strings.LastIndexByte(before, '/')+1:]
	begin(r, 't', name)
	switch {
	case name == "$batch":
		r.Kind = Batch
		r.body(raw)
	case name == "Tables" || name == "" || strings.Contains(raw.URL.RawQuery, "comp="):
	case addressed && keys != ")":
		r.Kind = Write
		if raw.Method == http.MethodGet {
			r.Kind = Read
		}
		r.Entities++
		operation(r, keys, decoded)
	case raw.Method == http.MethodGet:
		r.Kind = Query
		r.query(raw.URL.RawQuery)
	case raw.Method == http.MethodPost:
		r.Kind = Write
		r.Entities++
		operation(r, "", decoded)
		r.body(raw)
	}
}

func (r *Request) queue(method, path string) {
	before, _, messages := strings.Cut(path, "/messages")
	begin(r, 'q', before[strings.LastIndexByte(before, '/')+1:])
	switch {
	case !messages:
	case method == http.MethodGet:
		r.Kind = Poll
	default:
		r.Kind = Write
		r.add(r.Resource)
	}
}

func (r *Request) blob(method, path string) {
	container, name, _ := strings.Cut(path, "/")
	begin(r, 'b', container)
	if name == "" {
		return
	}
	r.Kind = Write
	if method == http.MethodGet || method == http.MethodHead {
		r.Kind = Read
	}
	r.Partition = extend(r, r.Resource, 0, name)
	r.add(r.Partition)
}

// begin sets the resource.
func begin[S []byte | string](r *Request, service byte, name S) {
	r.text = append(append(r.text[:0], service), name...)
	r.Resource = TextSpan{0, int32(len(r.text))}
	r.Low, r.High = r.Resource, r.Resource
}

// add adds an entity.
func (r *Request) add(key TextSpan) {
	r.Entities++
	r.Rows = append(r.Rows, key)
}

// extend returns the text of a key below another one. With the separator 1 it returns the end
// of all such texts.
func extend[S []byte | string](r *Request, under TextSpan, separator byte, key S) TextSpan {
	from := r.under(under)
	r.text = append(append(r.text, separator), key...)
	return r.span(from)
}

// under begins a text with a copy of another, or continues the last one.
func (r *Request) under(s TextSpan) (from int32) {
	if int(s.to) == len(r.text) {
		return s.from
	}
	from = int32(len(r.text))
	r.text = append(r.text, r.In(s)...)
	return from
}

// span ends a text.
func (r *Request) span(from int32) TextSpan {
	r.text = r.text[:min(len(r.text), int(from)+maxText)]
	return TextSpan{from, int32(len(r.text))}
}

// In returns the text of s.
func (r *Request) In(s TextSpan) []byte { return r.text[s.from:s.to] }
