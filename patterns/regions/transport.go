package regions

import (
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// transport sends requests to the region that is to answer them.
type transport struct {
	pair  *Pair
	inner policy.Transporter
}

// Do sends a request.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	if isStats(req) {
		return t.inner.Do(toSecondary(req))
	}
	p, _ := req.Context().Value(permissionKey{}).(*permission)
	if p == nil { // it must use the primary
		return t.inner.Do(req)
	}
	latencies := t.pair.latenciesOf(req)
	only, ok := p.regions(req, t.pair.health.region)
	if latencies == nil || !ok {
		p.answered(Source{Region: Primary}, nil)
		return t.inner.Do(req)
	}
	r, _ := t.pair.idle.Get().(*race)
	if r == nil {
		r = new(race)
		r.late = time.AfterFunc(time.Hour, r.hurry)
		r.late.Stop() // until run sets it
	}
	r.pair, r.inner, r.req, r.permission, r.latencies, r.only = t.pair, t.inner, req, p, latencies, only
	a := r.run()
	defer func() {
		if r.done == nil { // no other goroutine has r
			*r = race{late: r.late}
			t.pair.idle.Put(r)
		}
	}()
	if only != "" && a.err == nil && !a.usable() {
		a.err = runtime.NewResponseError(a.resp)
	}
	switch {
	case a.err == nil:
		p.answered(a.source, a.resp.Header)
		a.resp.Request = req // azcore and aztables know this one
		return a.resp, nil
	case only != "" && req.Context().Err() == nil:
		return nil, &movedError{only, a.err}
	}
	return nil, a.err
}

// latenciesOf returns the latencies of requests of the kind of req, nil if req reads no entities.
func (p *Pair) latenciesOf(req *http.Request) *latencies {
	last := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	table, keys, ok := strings.Cut(last, "(")
	switch {
	case req.Method != http.MethodGet || !ok || table == "Tables":
		return nil
	case strings.HasPrefix(keys, "PartitionKey="):
		return &p.points
	}
	return &p.pages
}

// isStats reports whether req is for the statistics of the service.
func isStats(req *http.Request) bool {
	return req.Method == http.MethodGet && strings.Contains(req.URL.RawQuery, "comp=stats") && !strings.Contains(req.URL.Path, "(")
}
