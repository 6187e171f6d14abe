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

// request is what a meter reads from one try of a request. Requests are pooled, so that
// reading them allocates nothing.
type request struct {
	service   byte // 't', 'q' or 'b'
	kind      kind
	resource  string // the table, queue or container; part of the URL
	inBatch   span   // the table of a transaction
	class     query.Class
	filtered  bool // a query with a condition that the keys do not answer
	next      bool // a later page of a query
	insert    bool // of a new row, as far as the method shows
	partition span
	rows      []span // one for each entity that is addressed; none in a query
	low, high span   // row keys of a query in one partition, or its partition keys
	sent      int64  // bytes

	outcome

	text   []byte // the keys
	window *[16 << 10]byte
}

// read reads what raw is about to send. It changes nothing: a body is read only if it can
// be rewound.
func (r *request) read(raw *http.Request) {
	*r = request{text: r.text[:0], rows: r.rows[:0], window: r.window, sent: max(raw.ContentLength, 0)}
	host, path := raw.URL.Host, raw.URL.Path
	last := path[strings.LastIndexByte(path, '/')+1:]
	accept := ""
	if values := raw.Header["Accept"]; len(values) > 0 {
		accept = values[0]
	}
	switch {
	case strings.Contains(host, ".table.") || last == "$batch" || strings.HasPrefix(accept, "application/json"):
		r.service = 't'
		r.table(raw, last)
	case strings.Contains(host, ".queue.") || strings.Contains(path, "/messages"):
		r.service = 'q'
		r.queue(raw, path)
	default:
		r.service = 'b'
		if !strings.Contains(host, ".blob.") { // an emulator's path starts with the account
			_, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		}
		r.blob(raw, strings.TrimPrefix(path, "/"))
	}
}

func (r *request) table(raw *http.Request, last string) {
	name, keys, addressed := strings.Cut(last, "(")
	r.resource = name
	switch {
	case last == "$batch":
		r.kind = kindBatch
		r.resource = ""
		r.body(raw)
	case name == "Tables" || name == "" || strings.Contains(raw.URL.RawQuery, "comp="):
	case addressed && keys != ")":
		r.kind = kindWrite
		if raw.Method == http.MethodGet {
			r.kind = kindRead
		}
		r.address(add(r, last))
	case raw.Method == http.MethodGet:
		r.kind = kindQuery
		r.query(raw.URL.RawQuery)
	case raw.Method == http.MethodPost:
		r.kind, r.insert = kindWrite, true
		r.body(raw)
	}
}

func (r *request) queue(raw *http.Request, path string) {
	before, id, messages := strings.Cut(path, "/messages")
	r.resource = before[strings.LastIndexByte(before, '/')+1:]
	switch {
	case !messages:
	case raw.Method == http.MethodGet:
		r.kind = kindPoll
	default:
		r.kind = kindWrite
		r.rows = append(r.rows, add(r, strings.TrimPrefix(id, "/")))
	}
}

func (r *request) blob(raw *http.Request, path string) {
	container, name, ok := strings.Cut(path, "/")
	r.resource = container
	if !ok || name == "" {
		return
	}
	r.kind = kindWrite
	if raw.Method == http.MethodGet || raw.Method == http.MethodHead {
		r.kind = kindRead
	}
	r.partition = add(r, name)
	r.rows = append(r.rows, span{})
}

// add copies s to the text of r.
func add[S []byte | string](r *request, s S) span {
	from := int32(len(r.text))
	r.text = append(r.text, s...)
	return span{from, int32(len(r.text))}
}

// in returns the text of s.
func (r *request) in(s span) []byte { return r.text[s.from:s.to] }
