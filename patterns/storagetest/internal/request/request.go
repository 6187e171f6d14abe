// Package request parses an HTTP request to a storage account into the service, the
// operation and the resources that it names. Each request is parsed once: the fault rules,
// the verification of credentials and the services all use the same value.
package request

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Request is one request. After parsing, only Result changes, so that transports and
// services can share the value. A transport that has to change another field uses its own
// copy, see [From].
type Request struct {
	Service op.Service // "" if the address names no service
	Op      op.Op

	// Refusal is the reply if the service has no such operation or the address is
	// malformed. It is nil if the service can carry the request out.
	Refusal *reply.Error

	Method        string
	Header        http.Header // canonical names; a name that begins with x-ms-meta- is as the client wrote it
	URL           *url.URL    // as signed
	ContentLength int64       // -1 if it is not declared
	RemoteAddr    string      // "" if the client is in this process
	HTTPS         bool

	// Account is the account that the address names, Base its address as the
	// client wrote it, without a slash at the end:
	// "https://name.table.core.windows.net" or "http://127.0.0.1:10002/name".
	Account, Base string

	// Secondary reports that the address is that of the read-only secondary:
	// "https://name-secondary.table.core.windows.net" or "http://127.0.0.1:10002/name-secondary".
	Secondary bool

	// Path is the decoded path below the account, without a slash in front.
	Path string

	// Query contains the well-formed parameters of the query. BadQuery reports whether
	// the query also contains malformed ones.
	Query    url.Values
	BadQuery bool

	// Resource is the table, queue or container, "" for the whole account. Name
	// is the blob, Message the id of the message.
	Resource, Name, Message string

	// Rows are the keys of the rows that the request addresses: one for an operation on an
	// entity, one for each operation of a batch, none for a query.
	Rows []keys.Key

	Address Address // the path of a request to the Table service
	Verb    string  // Table service: the method, or that of X-HTTP-Method
	Batch   *Batch  // of an entity group transaction, nil for other operations

	// Arrival is when a late request arrived, by the clock of this process. Zero means now.
	Arrival time.Time

	// ClockSkew is how far the clock of the account is ahead of this process.
	ClockSkew time.Duration

	// Page shortens the page of results that a query or a list returns.
	Page Page

	// Result receives the counts and the error of the service. It is never nil, and all
	// copies of the request share it.
	Result *Result

	body     io.Reader
	buffered *buffered
	object   *object
}

// Result describes how a request was carried out.
type Result struct {
	// Returned, Scanned and Written count rows (or messages, or blobs). Scanned
	// are the rows that a query examined to find those that it returns.
	Returned, Scanned, Written int

	// Status and Code describe an error reply. If a batch fails, they are the status and
	// code of the operation that failed; the status of the reply itself is a success.
	Status int
	Code   string

	// Strict refuses requests that would have a warning.
	Strict bool

	// Warnings are what the service may refuse, although no source is known that it does. Each one names the resource, the
	// key, the property or parameter, and the rule.
	Warnings []string
}

// Undecided is called for what nothing decides: what is a property or a parameter, and rule is what the service may require. If
// the account is strict it returns refusal with the rule, otherwise it adds a warning.
func (r *Request) Undecided(what, rule string, refusal *reply.Error) *reply.Error {
	if r.Result.Strict {
		return refusal.Because(what + ": " + rule)
	}
	r.Warn(what, rule)
	return nil
}

// Warn adds a warning.
func (r *Request) Warn(what, rule string) {
	at := r.Resource
	if r.Name != "" {
		at += "/" + r.Name
	}
	if len(r.Rows) > 0 {
		at += fmt.Sprintf(" (%q, %q)", r.Rows[0].Partition, r.Rows[0].Row)
	}
	r.Result.Warnings = append(r.Result.Warnings, at+" "+what+": "+rule)
}

// Page shortens pages of results, as the service may do. The zero value changes nothing.
type Page struct {
	// Rows is the largest number of rows on a page. Zero means the limit of the service.
	Rows int
	// Scan is the largest number of rows examined for one page. The service has
	// such a limit in time, five seconds: it then returns what was found so far,
	// which may be nothing, with a token. Zero means no limit.
	Scan int
	// Boundary ends a page at the end of a partition.
	Boundary bool
	// Empty puts an empty page before the page of a list of queues, containers or
	// blobs.
	Empty bool
}

// WithDefaults returns p with its zero fields set to those of q.
func (p Page) WithDefaults(q Page) Page {
	if p.Rows == 0 {
		p.Rows = q.Rows
	}
	if p.Scan == 0 {
		p.Scan = q.Scan
	}
	p.Boundary = p.Boundary || q.Boundary
	p.Empty = p.Empty || q.Empty
	return p
}

// LocalTime returns the time at which the request is carried out, by the clock of this
// process.
func (r *Request) LocalTime() time.Time {
	if !r.Arrival.IsZero() {
		return r.Arrival
	}
	return time.Now()
}

// Time is LocalTime by the clock of the account.
func (r *Request) Time() time.Time { return r.LocalTime().Add(r.ClockSkew) }

// Count adds to the counts of the result.
func (r *Request) Count(returned, scanned, written int) {
	r.Result.Returned += returned
	r.Result.Scanned += scanned
	r.Result.Written += written
}

// Fail records the error of the request.
func (r *Request) Fail(e *reply.Error) {
	r.Result.Status, r.Result.Code = e.Status, e.Code
}

type boundKey struct{}

// bound is a parsed request together with the URL of its HTTP request.
type bound struct {
	r   *Request
	url *url.URL
}

// Bind returns a copy of req whose context contains r, the parsed form of req.
func Bind(req *http.Request, r *Request) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), boundKey{}, bound{r, req.URL}))
}

// Within returns the parsed form of a request to the same service that r contains: an
// operation of a batch, or the read of the source of a copy. It has the client and the time
// of r, and shares its Result.
func (r *Request) Within(req *http.Request) *Request {
	p := Parser{Account: r.Account}
	inner, _ := p.Parse(req.WithContext(WithService(context.Background(), r.Service)))
	inner.RemoteAddr, inner.Arrival, inner.ClockSkew, inner.Result = r.RemoteAddr, r.Arrival, r.ClockSkew, r.Result
	return inner
}

// From returns a copy of the parsed request that req was bound to, which reads the body of
// req. It returns nil if req is another HTTP request with the same context, or was changed
// after Bind.
func From(req *http.Request) *Request {
	b, ok := req.Context().Value(boundKey{}).(bound)
	if !ok || b.url != req.URL || b.r.Method != req.Method {
		return nil
	}
	r := new(Request)
	*r = *b.r
	r.body, r.ContentLength = bodyOf(req)
	return r
}
