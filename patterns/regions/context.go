package regions

import (
	"context"
	"net/http"
	"sync"
)

// permission is a value in the context that permits requests to use the secondary, and
// records where they were answered.
type permission struct {
	mu      sync.Mutex
	pinned  Region          // the only region that may answer, "" for both
	sticky  bool            // the first request decides which: that of a scan
	patient bool            // a region that is only slow is waited for, because the other has failed
	slow    chan<- struct{} // receives if the region of a page is slow
	wrote   bool            // a write was sent: reads may decide about its outcome
	source  Source
}

type permissionKey struct{}

// Strict returns a context with which no request uses the secondary, whatever permits it.
func Strict(ctx context.Context) context.Context {
	return context.WithValue(ctx, permissionKey{}, (*permission)(nil))
}

// Permit returns a context that permits reads to use the secondary, for programs on aztables
// and for the readers of other packages. The Report contains where they were answered.
//
// Do not use the context for operations that write. A write never leaves the primary, and
// after the first one the reads with this context do not, either. But reads before it may be
// stale.
//
// A page that is requested with a continuation token must come from the region that returned
// the token: [Table] ensures that, a pager of aztables does not. A 404 from the secondary does
// not mean that the row does not exist: see [AbsentError], and compare [Report.Source].
func Permit(ctx context.Context) (context.Context, *Report) {
	ctx, p := permit(ctx, &permission{})
	return ctx, &Report{p}
}

// Report contains where the reads with the context of a [Permit] were answered. It is safe
// for concurrent use.
type Report struct{ p *permission }

// Source returns the source of all replies so far. It is zero before the first, or if the
// client has no [Pair], or within [Strict].
func (r *Report) Source() Source { return r.p.seen() }

// permit adds p to ctx. Within Strict it adds nothing, and returns nil.
func permit(ctx context.Context, p *permission) (context.Context, *permission) {
	if outer, ok := ctx.Value(permissionKey{}).(*permission); ok && outer == nil {
		return ctx, nil
	}
	return context.WithValue(ctx, permissionKey{}, p), p
}

// permitted returns the permission of a request, nil if it must use the primary.
func permitted(ctx context.Context) *permission {
	p, _ := ctx.Value(permissionKey{}).(*permission)
	return p
}

func (p *permission) seen() Source {
	if p == nil {
		return Source{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.source
}

func (p *permission) answered(s Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.source = p.source.worse(s)
}

// regions returns the only region that may answer req, "" for both. If the first request
// decides, it is the region that preferred returns. ok is false if req and what follows it must
// use the primary, because of a write.
func (p *permission) regions(req *http.Request, preferred func() Region) (only Region, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = p.wrote || req.Method != http.MethodGet
	if p.sticky && p.pinned == "" {
		p.pinned = preferred()
	}
	return p.pinned, !p.wrote
}
