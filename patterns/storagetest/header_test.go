package storagetest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// doer adapts a function to policy.Transporter.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

func TestHeadersThatNetHTTPRefusesAreNotSent(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	sent := 0
	transport := storagetest.Wrap(doer(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
	}), nil)
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for name, value := range map[string]string{
		"x-ms-meta-a": "b", "x-ms-meta-!#$%&'*+.^_`|~": "b", "x-ms-meta-tab": "a\tb", "x-ms-meta-é": "b", "x-ms-meta-high": "\u00e9\xff", "x-ms-meta-none": "",
		"": "b", "x-ms-meta-a b": "b", "x-ms-meta-a:": "b", "x-ms-meta-(": "b", "x-ms-meta-line": "a\nb", "x-ms-meta-nul": "a\x00", "x-ms-meta-del": "\x7f",
	} {
		before, logged := sent, transport.Last()
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/box/b", nil))(t)
		req.Header[name] = []string{value}
		res, want := http.DefaultTransport.RoundTrip(req)
		if want == nil {
			_, _ = io.Copy(io.Discard, res.Body) // only the error is compared
			_ = res.Body.Close()
		}
		if _, err := transport.Do(req); text(err) != text(want) {
			t.Errorf("%q: %q, net/http has %v, want the same", name, value, err)
		} else if n := sent - before; (n == 1) != (want == nil) || transport.Last()-logged != n {
			t.Errorf("%q: %q: sent %d times, logged %d times", name, value, n, transport.Last()-logged)
		}
	}
}
