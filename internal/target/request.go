package target

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// maxText is how many bytes of a key are read. A legal key has at most 512 UTF-16 code units.
const maxText = 4 << 10

// Kind is what a request does to its table, queue or container.
type Kind uint8

const (
	Other Kind = iota // changes or lists tables, queues, containers, or their settings
	Read              // one row or blob, by its key
	Query             // one page
	Write             // one row, message or blob
	Batch             // an entity group transaction
	Poll              // receives messages
)

// Span is a part of the text of a [Request], see [Request.In].
type Span struct{ from, to int32 }

// Request is what can be read from one try of a request. Its keys are texts: a letter for the
// service and the name of the resource, the partition key, and the row key, separated by
// U+0000, which is not legal in a key. Requests can be pooled, so that reading them allocates
// nothing. [NewRequest] makes one.
type Request struct {
	Kind      Kind
	Class     query.Class // of a query
	Filtered  bool        // a query with a condition that the keys do not answer
	Next      bool        // a later page of a query
	Resource  Span
	Partition Span   // empty without a partition key
	Entities  int    // rows, messages or blobs that are addressed; at most 1 in a query
	Rows      []Span // one for each of the entities, if they were asked for
	Low, High Span   // between which a query reads, if the rows were asked for

	each   bool // Rows are asked for
	waits  bool // a key of the last row is in the JSON that follows
	text   []byte
	window *[16 << 10]byte // of the URL or the body
}

// NewRequest returns a Request to read into.
func NewRequest() *Request { return &Request{window: new([16 << 10]byte)} }

// Read reads what raw is about to send. It changes nothing: a body is read only if it can
// be rewound. With rows it reads the keys of all rows, otherwise only how many they are.
func (r *Request) Read(raw *http.Request, rows bool) {
	*r = Request{text: r.text[:0], Rows: r.Rows[:0], window: r.window, each: rows}
	host, path := raw.URL.Host, raw.URL.Path
	last := path[strings.LastIndexByte(path, '/')+1:]
	service := serviceOf(host)
	switch {
	case service == 't' || last == "$batch" || service == 0 && acceptsJSON(raw):
		r.table(raw, last)
	case service == 'q' || service == 0 && strings.Contains(path, "/messages"):
		r.queue(raw.Method, path)
	default:
		if service == 0 {
			_, path = emulated(path)
		}
		r.blob(raw.Method, strings.TrimPrefix(path, "/"))
	}
}

// Account returns the name of the account that raw is for.
func Account(raw *http.Request) string {
	if serviceOf(raw.URL.Host) == 0 {
		account, _ := emulated(raw.URL.Path)
		return account
	}
	account, _, _ := strings.Cut(raw.URL.Host, ".")
	return account
}

// emulated returns the account, with which the path of an emulator starts, and the rest.
func emulated(path string) (account, rest string) {
	account, rest, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return account, rest
}

// serviceOf returns the first letter of the service in the name of a host, or 0.
func serviceOf(host string) byte {
	for {
		i := strings.IndexByte(host, '.')
		if i < 0 {
			return 0
		}
		host = host[i+1:]
		for _, service := range [...]string{"table.", "queue.", "blob."} {
			if strings.HasPrefix(host, service) {
				return service[0]
			}
		}
	}
}

func acceptsJSON(raw *http.Request) bool {
	accept := raw.Header["Accept"]
	return len(accept) > 0 && strings.HasPrefix(accept[0], "application/json")
}

func (r *Request) table(raw *http.Request, last string) {
	name, keys, addressed := strings.Cut(last, "(")
	r.begin('t', name)
	switch {
	case last == "$batch":
		r.Kind = Batch
		r.body(raw)
	case name == "Tables" || name == "" || strings.Contains(raw.URL.RawQuery, "comp="):
	case addressed && keys != ")":
		r.Kind = Write
		if raw.Method == http.MethodGet {
			r.Kind = Read
		}
		r.operation(r.window[:copy(r.window[:], keys)])
	case raw.Method == http.MethodGet:
		r.Kind = Query
		r.query(raw.URL.RawQuery)
	case raw.Method == http.MethodPost:
		r.Kind = Write
		r.operation(nil)
		r.body(raw)
	}
}

func (r *Request) queue(method, path string) {
	before, _, messages := strings.Cut(path, "/messages")
	r.begin('q', before[strings.LastIndexByte(before, '/')+1:])
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
	r.begin('b', container)
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
func (r *Request) begin(service byte, name string) {
	r.text = append(append(r.text[:0], service), name...)
	r.Resource = Span{0, int32(len(r.text))}
	r.Low, r.High = r.Resource, r.Resource
}

// add adds an entity.
func (r *Request) add(key Span) {
	r.Entities++
	if r.each {
		r.Rows = append(r.Rows, key)
	}
}

// extend returns the text of a key below another one. With the separator 1 it returns the end
// of all such texts.
func extend[S []byte | string](r *Request, under Span, separator byte, key S) Span {
	from := under.from
	if int(under.to) < len(r.text) {
		from = int32(len(r.text))
		r.text = append(r.text, r.In(under)...)
	}
	r.text = append(append(r.text, separator), key...)
	r.text = r.text[:min(len(r.text), int(from)+maxText)]
	return Span{from, int32(len(r.text))}
}

// In returns the text of s.
func (r *Request) In(s Span) []byte { return r.text[s.from:s.to] }
