// Package fakeaccount is an Azure storage account in memory: the Table, Queue and Blob
// services, and the verification of credentials in front of them.
//
// A request passes through these packages:
//
//	storagetest the transport that the client uses: faults by rules, and the log
//	request     the HTTP request is parsed, once
//	fakeaccount the account and the service are chosen, and the credential is verified
//	auth        what the credential permits
//	table, queue, blob
//	            the service carries the request out
//
// Package op is the list of operations that all of them use. Package reply creates the
// reply, in the queue and blob services together with package xmlservice.
package fakeaccount

import (
	"errors"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// ErrDown is the error of a request to a region that is down.
var ErrDown = errors.New("the region is down")

// Account is a storage account, and the transport for requests to it. It carries requests
// out in the goroutine of the sender, without a socket or another goroutine, so that
// testing/synctest controls the time of clients and services. Create it with [New]. It is
// safe for concurrent use.
type Account struct {
	// Strict refuses what the service may accept although no source is known that it does. Otherwise it is accepted with
	// a warning. It must not change after the first request.
	Strict bool

	name        string
	skew        time.Duration
	primary     *region
	secondary   *region
	replication replication
}

// New returns an empty account with a decoded key. page shortens every page of a query
// to the Table service. skew is how far the clock of the account is ahead of this process;
// credentials are verified by the clock of the process.
func New(name string, key []byte, page request.Page, skew time.Duration) *Account {
	return &Account{name: name, skew: skew, primary: newRegion(name, key, page), secondary: newRegion(name, key, page)}
}

// Throttle sets the targets of both regions.
func (a *Account) Throttle(t Targets) {
	now := time.Now()
	a.primary.throttle.set(t, now)
	a.secondary.throttle.set(t, now)
}

// Do carries out one request as an HTTP server would receive it. If the region of the
// request is down, it returns [ErrDown].
func (a *Account) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	r := request.From(req)
	if r == nil { // not sent through the transport of storagetest
		parser := request.Parser{Account: a.name}
		r, req = parser.Parse(req)
	}
	r.ClockSkew = a.skew
	r.Result.Strict = a.Strict
	calls.TraceRequest(req)
	at := a.primary
	if r.Secondary {
		at = a.secondary
	}
	if at.down.Load() {
		return nil, ErrDown
	}
	if r.Secondary {
		a.catchUp()
	}
	var w reply.Recorder
	a.serve(&w, r, at)
	calls.TraceReply(req)
	res := w.Result(req)
	if r.Service != op.Table && !request.IsServed(req.Context()) {
		xmlservice.CanonicalNames(res.Header)
	}
	return res, nil
}

// serve verifies the credential of a request, and passes the request to its service in the
// region that it is for.
func (a *Account) serve(w http.ResponseWriter, r *request.Request, at *region) {
	if r.Account != a.name {
		a.refuse(w, r, reply.New(http.StatusBadRequest, "InvalidUri", "The address does not name the account "+a.name+"."))
		return
	}
	if r.Service == "" {
		a.refuse(w, r, reply.New(http.StatusBadRequest, "InvalidUri", "The host does not name a service of the account, as "+a.name+".table.… does. The addresses of Serve do not need such a host."))
		return
	}
	grant, refusal := at.permit(r)
	if refusal == nil && r.Secondary {
		refusal = a.notOnSecondary(r)
	}
	if refusal == nil {
		refusal = at.throttle.admit(r)
	}
	if refusal != nil {
		r.Fail(refusal)
		a.refuse(w, r, refusal)
		return
	}
	at.delayed(r, func() {
		switch {
		case isStats(r) && grant.Allow(r.Op, "") == nil:
			a.stats(w, r)
		case r.Service == op.Table:
			at.tables.Serve(w, r, grant)
		case r.Service == op.Queue:
			at.queues.Serve(w, r)
		case r.Service == op.Blob:
			at.blobs.Serve(w, r)
		}
	})
	at.throttle.charge(r)
	if !r.Secondary {
		a.record(r)
	}
}
