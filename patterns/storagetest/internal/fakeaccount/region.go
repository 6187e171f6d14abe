package fakeaccount

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/blob"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/queue"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/table"
)

// region is the services of an account in one location.
type region struct {
	verifier *auth.Verifier
	throttle throttle
	tables   *table.Service
	queues   *queue.Service
	blobs    *blob.Service
	down     atomic.Bool // requests do not reach it

	activation activation
}

func newRegion(name string, key []byte, page request.Page) *region {
	g := &region{tables: table.New(page), queues: queue.New()}
	g.blobs = blob.New(g.permitSource)
	g.verifier = &auth.Verifier{Account: name, Keys: [][]byte{key}, Policy: g.policy}
	return g
}

// permit verifies the credential of a request, and returns an error unless it permits the
// operation. The Table service decides that itself, by the grant.
func (g *region) permit(r *request.Request) (auth.Grant, *reply.Error) {
	grant, refusal := g.verifier.Verify(r)
	switch {
	case refusal != nil && g.isPublic(r):
		refusal = nil
	case refusal == nil && r.Service == op.Queue:
		refusal = grant.Allow(r.Op, r.Resource)
	case refusal == nil && r.Service == op.Blob:
		refusal = grant.AllowBlob(r, func() bool { return g.blobs.Exists(r.Resource, r.Name, r.Time()) })
	}
	return grant, refusal
}

// permitSource is permit for the read of the source of a copy.
func (g *region) permitSource(r *request.Request) *reply.Error {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && !auth.IsJWT(token) {
		return auth.BadToken("the token of x-ms-copy-source-authorization is no JSON Web Token")
	}
	_, refusal := g.permit(r)
	return refusal
}

// isPublic reports whether a request without a credential is permitted because its
// container is public.
// https://learn.microsoft.com/azure/storage/blobs/anonymous-read-access-configure
func (g *region) isPublic(r *request.Request) bool {
	if r.Service != op.Blob || r.Header.Get("Authorization") != "" || r.Query.Has("sig") {
		return false
	}
	access := g.blobs.PublicAccess(r.Resource)
	switch r.Op {
	case op.BlobGet, op.BlobHead, op.BlobGetBlockList:
		return access != ""
	case op.BlobList, op.BlobGetContainer:
		return access == "container"
	}
	return false
}

// policy returns a stored access policy.
func (g *region) policy(s op.Service, resource, id string) (auth.StoredPolicy, bool) {
	for _, p := range g.policies(s, resource, time.Now()) {
		if p.ID == id {
			return auth.StoredPolicy{Start: p.Start, Expiry: p.Expiry, Permissions: p.Permission}, true
		}
	}
	return auth.StoredPolicy{}, false
}
