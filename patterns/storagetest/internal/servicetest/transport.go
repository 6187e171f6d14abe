// Package servicetest sends raw requests and requests of the Go SDKs to a single service in
// tests. It uses no socket and no goroutine, so it works inside testing/synctest.
package servicetest

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Handler returns a handler that parses requests to the service s, unless they are
// parsed already, and passes them to serve.
func Handler(s op.Service, serve func(http.ResponseWriter, *request.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parsed := request.From(r)
		if parsed == nil {
			parsed, _ = new(request.Parser).Parse(r.WithContext(request.WithService(r.Context(), s)))
		}
		serve(w, parsed)
	})
}

// Transport carries each request out in the goroutine of the sender.
type Transport struct{ Handler http.Handler }

// Do implements policy.Transporter.
func (t *Transport) Do(req *http.Request) (*http.Response, error) {
	var w reply.Recorder
	t.Handler.ServeHTTP(&w, req)
	xmlservice.CanonicalNames(w.Header())
	return w.Result(req), nil
}
