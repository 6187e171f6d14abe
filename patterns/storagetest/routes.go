package storagetest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/auth"
	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/fault"
)

// routes takes a request to the service that its address names, once its
// credential was verified, and cuts the account off the path where it stands
// there.
type routes struct {
	verifier *auth.Verifier
	tables   http.Handler
	queues   http.Handler
	blobs    http.Handler
	access   func(container string) string // what is public of it: "", "blob" or "container"
}

// ServeHTTP carries out one request, which comes through a fault.Transport.
func (m *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	side := rest.CallFrom(r.Context())
	service := fault.Service(side.Service)
	url, base, ok := cutAccount(r)
	if !ok {
		refuse(w, r, service, http.StatusBadRequest, "InvalidUri", "The address does not name the account "+AccountName+".", "")
		return
	}
	side.Base = base
	var at auth.Service
	switch service {
	case fault.Table:
		at = auth.Table
	case fault.Queue:
		at = auth.Queue
	case fault.Blob:
		at = auth.Blob
	default:
		refuse(w, r, service, http.StatusBadRequest, "InvalidUri", "The host names no service of the account, as "+AccountName+".table.… does. The addresses of Serve need no such host.", "")
		return
	}
	grant, refusal := m.verifier.Verify(r, at)
	in := *r
	in.URL = url
	switch {
	case refusal != nil && at == auth.Blob && m.public(r, side):
		refusal = nil
	case refusal == nil && at != auth.Table:
		refusal = m.permit(grant, &in, side)
	}
	if refusal != nil {
		if refusal.Challenge != "" {
			w.Header().Set("WWW-Authenticate", refusal.Challenge)
		}
		side.Fail(refusal.Status, refusal.Code)
		refuse(w, r, service, refusal.Status, refusal.Code, refusal.Message, refusal.Detail)
		return
	}
	switch at {
	case auth.Table:
		if grant.Kind() == auth.AccountSAS || grant.Kind() == auth.ServiceSAS {
			side.Guard = guard{grant}
		}
		m.tables.ServeHTTP(w, &in)
	case auth.Queue:
		m.queues.ServeHTTP(w, &in)
	case auth.Blob:
		m.blobs.ServeHTTP(w, &in)
	}
}

// cutAccount returns the address below the account, and that of the account
// without a slash at the end.
func cutAccount(r *http.Request) (*url.URL, string, bool) {
	base := rest.Base(r)
	if strings.HasPrefix(r.Host, AccountName+".") || strings.HasPrefix(r.Host, AccountName+"-secondary.") {
		return r.URL, base, true
	}
	const prefix = "/" + AccountName
	path, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok || path != "" && path[0] != '/' {
		return nil, "", false
	}
	out := new(url.URL)
	*out = *r.URL
	out.Path = path
	out.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
	return out, base + prefix, true
}
