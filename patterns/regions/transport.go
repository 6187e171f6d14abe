package regions

import (
	"net/http"

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
	p := permitted(req.Context())
	switch {
	case isStats(req):
		secondary := req.Clone(req.Context())
		toSecondary(secondary)
		return t.inner.Do(secondary)
	case p == nil:
		return t.inner.Do(req)
	case kindOf(req) == notRead:
		if req.Method != http.MethodGet {
			p.noteWrite()
		}
		return t.inner.Do(req)
	}
	only, primaryOnly := p.only(t.pair.health.region)
	if primaryOnly {
		resp, err := t.inner.Do(req)
		p.answered(Source{Region: Primary})
		return resp, err
	}
	r := &race{pair: t.pair, inner: t.inner, req: req, latencies: &t.pair.points, replies: make(chan *reply), done: make(chan struct{})}
	if kindOf(req) == pageRead {
		r.latencies = &t.pair.pages
	}
	defer r.end()
	var a *reply
	if only != "" {
		a = r.bound(only)
	} else {
		a = r.run()
	}
	if a.err == nil && only != "" && !a.usable() {
		a.err = runtime.NewResponseError(a.resp)
		a.discard()
	}
	if a.err != nil {
		if only != "" && req.Context().Err() == nil {
			return nil, &movedError{only, a.err}
		}
		return nil, a.err
	}
	p.answered(a.source)
	r.winner = a
	a.resp.Request = req // azcore and aztables know this one
	a.resp.Body = &body{a.resp.Body, a.cancel}
	return a.resp, nil
}
