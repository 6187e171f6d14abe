package rest

import (
	"context"
	"net/http"
)

// Key addresses one row of a table.
type Key struct{ Partition, Row string }

// A Call travels in the context of a request. The sender reads from it what
// carrying out the request took, and asks through it for behaviour that a
// client cannot ask for over HTTP. Every method accepts a nil Call.
//
// One Call belongs to one request and is used by one goroutine at a time.
type Call struct {
	// Service, Op, Resource and Name say what the request is, as package fault
	// names it: the service, the operation, the table, queue or container, and
	// the blob.
	Service, Op, Resource, Name string

	// Base is the address of the account as the client wrote it, without a
	// slash at the end: "https://name.table.core.windows.net" or
	// "http://127.0.0.1:10002/name". Empty: derived from the request; see [Base].
	Base string

	// Guard limits what the request may do. Nil: everything.
	Guard Guard

	// Returned, Scanned and Written count rows (or messages, or blobs). A
	// query scans the rows that it has to look at to find those it returns.
	Returned, Scanned, Written int

	// Rows are the rows that the request addressed: one for a row operation,
	// one for each operation of a batch, none for a query.
	Rows []Key

	// Table is the table that a batch works on, which its URL does not say.
	Table string

	// Code is the error code of the answer, and Status its status; in a batch
	// those of the failing operation, whose outer status is a success.
	Code   string
	Status int

	// Page shapes the page that a query answers.
	Page Page
}

// Page cuts a page of results short, as the service does on its own account.
// The zero value leaves the page as it is.
type Page struct {
	// Rows is the most rows a page returns. 0: the service's own limit.
	Rows int
	// Scan is the most rows looked at for one page, like the five seconds
	// after which the service ends a page: what was found so far is returned
	// with a token, and that may be nothing. 0: no limit.
	Scan int
	// Boundary ends a page where a partition ends.
	Boundary bool
	// Empty puts a page without a result before the page of a list of queues,
	// containers or blobs.
	Empty bool
}

// Or returns p, and where p says nothing what q says.
func (p Page) Or(q Page) Page {
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

type callKey struct{}

// WithCall returns a context that carries c.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom returns the Call of ctx, or nil.
func CallFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Base is the address of the account as the client of r sees it, without a slash at
// the end: what the Call of r says, or else scheme and host of r.
func Base(r *http.Request) string {
	if c := CallFrom(r.Context()); c != nil && c.Base != "" {
		return c.Base
	}
	scheme, host := r.URL.Scheme, r.Host
	if scheme == "" {
		scheme = "http"
		if r.TLS != nil {
			scheme = "https"
		}
	}
	if host == "" {
		host = r.URL.Host
	}
	return scheme + "://" + host
}

// Touch records that the request addressed a row.
func (c *Call) Touch(partition, row string) {
	if c != nil {
		c.Rows = append(c.Rows, Key{partition, row})
	}
}

// Count adds to the counts of the call.
func (c *Call) Count(returned, scanned, written int) {
	if c != nil {
		c.Returned += returned
		c.Scanned += scanned
		c.Written += written
	}
}

// Fail records the error that the request ends with.
func (c *Call) Fail(status int, code string) {
	if c != nil {
		c.Status, c.Code = status, code
	}
}

// Report copies to c what of tells about carrying out the request.
func (c *Call) Report(of *Call) {
	if c != nil {
		c.Returned, c.Scanned, c.Written = of.Returned, of.Scanned, of.Written
		c.Rows, c.Table, c.Code, c.Status = of.Rows, of.Table, of.Code, of.Status
	}
}

// Shape returns the page shape that the sender asked for.
func (c *Call) Shape() Page {
	if c == nil {
		return Page{}
	}
	return c.Page
}

// Guards returns the Guard of the call, or one that allows everything.
func (c *Call) Guards() Guard {
	if c == nil || c.Guard == nil {
		return open{}
	}
	return c.Guard
}
