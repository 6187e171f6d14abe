// Package fakeaccount is an Azure storage account in memory: the Table, Queue and Blob
// services, and the verification of credentials in front of them.
//
// A request passes through these packages:
//
//	fault       the transport that the client uses: faults by rules, and the log
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
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/auth"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/blob"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/queue"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/reply"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/table"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/xmlservice"
)

// Account is a storage account, and the transport for requests to it. It carries requests
// out in the goroutine of the sender, without a socket or another goroutine, so that
// testing/synctest controls the time of clients and services. Create it with [New]. It is
// safe for concurrent use.
type Account struct {
	name     string
	skew     time.Duration
	verifier *auth.Verifier
	tables   *table.Service
	queues   *queue.Service
	blobs    *blob.Service
}

// New returns an empty account with a decoded key. page shortens every page of a query
// to the Table service. skew is how far the clock of the account is ahead of this process;
// credentials are verified by the clock of the process.
func New(name string, key []byte, page request.Page, skew time.Duration) *Account {
	a := &Account{name: name, skew: skew, tables: table.New(page), queues: queue.New()}
	a.blobs = blob.New(func(r *request.Request) *reply.Error { _, refusal := a.permit(r); return refusal })
	a.verifier = &auth.Verifier{Account: name, Keys: [][]byte{key}, Policy: a.policy}
	return a
}

// Do carries out one request as an HTTP server would receive it.
func (a *Account) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	r := request.From(req)
	if r == nil { // not sent through the transport of package fault
		parser := request.Parser{Account: a.name}
		r, req = parser.Parse(req)
	}
	r.ClockSkew = a.skew
	var w reply.Recorder
	fault.TraceRequest(req)
	a.serve(&w, r)
	fault.TraceReply(req)
	return w.Result(req), nil
}

// serve verifies the credential of a request, and passes the request to its service.
func (a *Account) serve(w http.ResponseWriter, r *request.Request) {
	if r.Account != a.name {
		a.refuse(w, r, reply.New(http.StatusBadRequest, "InvalidUri", "The address does not name the account "+a.name+"."))
		return
	}
	if r.Service == "" {
		a.refuse(w, r, reply.New(http.StatusBadRequest, "InvalidUri", "The host does not name a service of the account, as "+a.name+".table.… does. The addresses of Serve do not need such a host."))
		return
	}
	grant, refusal := a.permit(r)
	if refusal != nil {
		r.Fail(refusal)
		a.refuse(w, r, refusal)
		return
	}
	switch r.Service {
	case op.Table:
		a.tables.Serve(w, r, grant)
	case op.Queue:
		a.queues.Serve(w, r)
	case op.Blob:
		a.blobs.Serve(w, r)
	}
}

// permit verifies the credential of a request, and returns an error unless it permits the
// operation. The Table service decides that itself, by the grant.
func (a *Account) permit(r *request.Request) (auth.Grant, *reply.Error) {
	grant, refusal := a.verifier.Verify(r)
	switch {
	case refusal != nil && a.isPublic(r):
		refusal = nil
	case refusal == nil && r.Service == op.Queue:
		refusal = grant.Allow(r.Op, r.Resource)
	case refusal == nil && r.Service == op.Blob:
		refusal = grant.AllowBlob(r, func() bool { return a.blobs.Exists(r.Resource, r.Name, r.Time()) })
	}
	return grant, refusal
}

// isPublic reports whether a request without a credential is permitted because its
// container is public.
// https://learn.microsoft.com/azure/storage/blobs/anonymous-read-access-configure
func (a *Account) isPublic(r *request.Request) bool {
	if r.Service != op.Blob || r.Header.Get("Authorization") != "" || r.Query.Has("sig") {
		return false
	}
	access := a.blobs.PublicAccess(r.Resource)
	switch r.Op {
	case op.BlobGet, op.BlobHead, op.BlobGetBlockList:
		return access != ""
	case op.BlobList, op.BlobGetContainer:
		return access == "container"
	}
	return false
}

// policy returns a stored access policy.
func (a *Account) policy(s op.Service, resource, id string) (auth.StoredPolicy, bool) {
	var policies []xmlservice.Policy
	switch s {
	case op.Table:
		policies = a.tables.Policies(resource)
	case op.Queue:
		policies = a.queues.Policies(resource)
	case op.Blob:
		policies = a.blobs.Policies(resource)
	}
	for _, p := range policies {
		if p.ID == id {
			return auth.StoredPolicy{Start: p.Start, Expiry: p.Expiry, Permissions: p.Permission}, true
		}
	}
	return auth.StoredPolicy{}, false
}
