// Package restxmltest lets the Go SDK clients talk to a handler in tests: no
// socket, no goroutine, so that it works inside testing/synctest.
package restxmltest

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// A Transport runs each request against Handler in the caller's goroutine.
type Transport struct{ Handler http.Handler }

// Do implements policy.Transporter.
func (t *Transport) Do(req *http.Request) (*http.Response, error) {
	return rest.Carry(t.Handler, req), nil
}
