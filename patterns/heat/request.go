package heat

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// kind is what a request does to its table, queue or container.
type kind uint8

const (
	kindOther kind = iota // changes or lists tables, queues, containers, or their settings
	kindRead              // one row or blob, by its key
	kindQuery             // one page
	kindWrite             // one row, message or blob
	kindBatch             // an entity group transaction
	kindPoll              // receives messages
)

// span is a part of request.text.
type span struct{ from, to int32 }

// request is one try of a request. Requests are pooled, so that reading them allocates
// nothing.
type request struct {
	m *Meter
	content
	outcome
	rows   []span // one for each entity that is addressed, or for several; none in a query
	text   []byte
	window *[16 << 10]byte // of the URL or the body

	host    string // of the previous request
	service byte   // of the host, see serviceOf
	pages   []page // not used yet
}

// content is what a meter reads from a request.
type content struct {
	kind       kind
	class      query.Class
	filtered   bool  // a query with a condition that the keys do not answer
	next       bool  // a later page of a query
	waits      bool  // the key of the last row is in the JSON that follows
	resource   span  // this and the following are places, see [place]
	partition  span  // empty without a partition key
	low, high  span  // between which a query reads
	sent       int64 // bytes
	operations int   // of a transaction
	every      int   // one of so many operations has a row
}

// read reads what raw is about to send. It changes nothing: a body is read only if it can
// be rewound.
func (r *request) read(raw *http.Request) {
	r.content = content{every: 1, sent: max(raw.ContentLength, 0)}
	r.text, r.rows = r.text[:0], r.rows[:0]
	if r.host != raw.URL.Host {
		r.host, r.service = raw.URL.Host, serviceOf(raw.URL.Host)
	}
	service, path := r.service, raw.URL.Path
	switch {
	case service == 't' || service == 0 && (strings.HasSuffix(path, "/$batch") || acceptsJSON(raw)):
		r.table(raw, path)
	case service == 'q' || service == 0 && strings.Contains(path, "/messages"):
		r.queue(raw.Method, path)
	default:
		if service == 0 { // an emulator's path starts with the account
			_, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		}
		r.blob(raw.Method, strings.TrimPrefix(path, "/"))
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

func (r *request) table(raw *http.Request, path string) {
	before, keys, addressed := strings.Cut(path, "(")
	name := before[strings.LastIndexByte(before, '/')+1:]
	r.begin('t', name)
	switch {
	case name == "$batch":
		r.kind = kindBatch
		r.body(raw)
	case name == "Tables" || name == "" || strings.Contains(raw.URL.RawQuery, "comp="):
	case addressed && keys != ")":
		r.kind = kindWrite
		if raw.Method == http.MethodGet {
			r.kind = kindRead
		}
		r.operation(r.window[:copy(r.window[:], keys)], 0)
	case raw.Method == http.MethodGet:
		r.kind = kindQuery
		r.query(raw.URL.RawQuery)
	case raw.Method == http.MethodPost:
		r.kind = kindWrite
		r.operation(nil, 0)
		r.body(raw)
	}
}

func (r *request) queue(method, path string) {
	before, _, messages := strings.Cut(path, "/messages")
	r.begin('q', before[strings.LastIndexByte(before, '/')+1:])
	switch {
	case !messages:
	case method == http.MethodGet:
		r.kind = kindPoll
	default:
		r.kind = kindWrite
		r.rows = append(r.rows, r.resource)
	}
}

func (r *request) blob(method, path string) {
	container, name, _ := strings.Cut(path, "/")
	r.begin('b', container)
	if name == "" {
		return
	}
	r.kind = kindWrite
	if method == http.MethodGet || method == http.MethodHead {
		r.kind = kindRead
	}
	r.partition = r.extend(r.resource, 0, r.window[:copy(r.window[:], name)])
	r.rows = append(r.rows, r.partition)
}

// begin sets the resource.
func (r *request) begin(service byte, name string) {
	r.text = append(append(r.text[:0], service), name...)
	r.resource = span{0, int32(len(r.text))}
	r.low, r.high = r.resource, r.resource
}

// extend returns the place of a key below another place. With the separator 1 it returns
// the end of all such places.
func (r *request) extend(under span, separator byte, key []byte) span {
	from := under.from
	if int(under.to) < len(r.text) {
		from = int32(len(r.text))
		r.text = append(r.text, r.in(under)...)
	}
	r.text = append(append(r.text, separator), key...)
	r.text = r.text[:min(len(r.text), int(from)+maxKey)]
	return span{from, int32(len(r.text))}
}

// in returns the text of s.
func (r *request) in(s span) []byte { return r.text[s.from:s.to] }
