package calls_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/azpatterns/azpatterns/internal/calls"
)

func TestRequestsOfACredentialAreNotTries(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") })
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			server := httptest.NewUnstartedServer(handler)
			server.EnableHTTP2 = protocol == "HTTP/2"
			server.StartTLS()
			defer server.Close()
			client := server.Client()
			const token, try = "", "2026-04-06" // the version in the header of the request
			for _, c := range []struct {
				name     string
				requests []string
				want     bool
			}{
				{"one try", []string{try}, false},
				{"a token, one try", []string{token, try}, false},
				{"two requests for a token, one try", []string{token, token, try}, false},
				{"two tries", []string{try, try}, true},
				{"a token for each of two tries", []string{token, try, token, try}, true},
				{"nothing was seen", nil, true},
			} {
				var tries calls.Tries
				ctx := tries.Context(t.Context())
				for _, version := range c.requests {
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, http.NoBody)
					if err != nil {
						t.Fatal(err)
					}
					if version != "" {
						req.Header.Set("x-ms-version", version)
					}
					resp, err := client.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				if got := tries.EarlierOpen(); got != c.want {
					t.Errorf("%s: an earlier try is open: %t, want %t", c.name, got, c.want)
				}
			}
		})
	}
}
