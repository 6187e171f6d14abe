package regions

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
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
	tokens  map[string]Region // that returned the continuation tokens, nil if the reader knows that
}

type (
	permissionKey struct{}
	acceptedKey   struct{}
)

// Within returns a context with which reads accept a reply of the secondary only if its MaxAge is
// at most age. Otherwise they wait for the primary, and fail if that does, as if there were no
// secondary. It limits the reads of a [Table], and those of a [Permit] before or after it. The
// MaxAge of a reply is up to 15 seconds larger than necessary: the Last Sync Time is not
// requested more often.
func Within(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(ctx, acceptedKey{}, age)
}

// Strict returns a context with which no request uses the secondary, whatever permits it.
func Strict(ctx context.Context) context.Context {
	return context.WithValue(ctx, permissionKey{}, (*permission)(nil))
}

// Permit returns a context that permits reads to use the secondary, for the reads of a
// [patterns.Store] and of all its indexes, for those of other packages, and for programs on aztables:
//
//	ctx, report := regions.Permit(regions.Within(ctx, 10*time.Minute))
//	for employee, err := range byName.On(store).Query(ctx, "Sales", secondaryindex.Equal("Ada"), nil) { … }
//	report.Source().MaxAge // no row of the index and no entity was older
//
// Each request may be answered by another region. A page with a continuation token comes from the
// region that returned the token, if that was returned with the same context. If this region fails
// before the last page, the read fails, and can be repeated. A [Table] continues in the other
// region instead.
//
// Do not use the context for operations that write. A write never leaves the primary, and
// after the first one the reads with this context do not, either. But reads before it may be
// stale.
//
// A 404 from the secondary does not mean that the row does not exist: see [AbsentError], and
// compare [Report.Source]. An index row and its entity may be of different ages: a change that
// was made in the last MaxAge may be missing, and an entity that changed since then may be found
// under neither value.
func Permit(ctx context.Context) (context.Context, *Report) {
	ctx, p := permit(ctx, &permission{tokens: map[string]Region{}})
	return ctx, &Report{p}
}

// Report contains where the reads with the context of a [Permit] were answered. It is safe
// for concurrent use.
type Report struct{ p *permission }

// Source returns the source of all replies so far: MaxAge is the age of the oldest row used. It is zero before the first, or if the
// client has no [Pair], or within [Strict].
func (r *Report) Source() Source { return r.p.seen() }

// permit adds p to ctx. Within Strict it adds nothing, and returns nil.
func permit(ctx context.Context, p *permission) (context.Context, *permission) {
	if outer, ok := ctx.Value(permissionKey{}).(*permission); ok && outer == nil {
		return ctx, nil
	}
	return context.WithValue(ctx, permissionKey{}, p), p
}

func (p *permission) seen() Source {
	if p == nil {
		return Source{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.source
}

// answered records the source of a reply.
func (p *permission) answered(s Source, h http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.source.MaxAge = max(p.source.MaxAge, s.MaxAge); p.source.Region != Secondary {
		p.source.Region = s.Region
	}
	if p.tokens != nil && h != nil {
		p.tokens[h.Get("x-ms-continuation-NextPartitionKey")+"\n"+h.Get("x-ms-continuation-NextRowKey")] = s.Region
	}
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
	if len(p.tokens) > 0 && strings.Contains(req.URL.RawQuery, "NextPartitionKey=") {
		q := req.URL.Query()
		return p.tokens[q.Get("NextPartitionKey")+"\n"+q.Get("NextRowKey")], !p.wrote
	}
	return p.pinned, !p.wrote
}
