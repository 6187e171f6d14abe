package patterns_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// redirector sends every request that it does not forward to another host.
type redirector struct {
	m         *middle
	status    int
	active    bool
	requests  int
	elsewhere []string // the requests that reached the other host
}

func (r *redirector) RoundTrip(req *http.Request) (*http.Response, error) {
	if !r.active {
		return r.m.Do(req)
	}
	r.requests++
	header := http.Header{"Location": {"https://elsewhere.invalid/stolen"}, "X-Ms-Error-Code": {"EntityNotFound"}}
	if req.URL.Host == "elsewhere.invalid" {
		r.elsewhere = append(r.elsewhere, req.Method)
		return &http.Response{StatusCode: http.StatusNoContent, Request: req, Header: http.Header{}, Body: http.NoBody}, nil
	}
	return &http.Response{StatusCode: r.status, Request: req, Header: header, Body: io.NopCloser(strings.NewReader(`{"value":[]}`)), ContentLength: -1}, nil
}

func TestARedirectIsABadReplyAndIsNotFollowed(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			t.Run(mode+"/"+http.StatusText(status), func(t *testing.T) {
				acct := storagetest.New(t)
				r := &redirector{m: &middle{inner: acct.Transport()}, status: status}
				assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "people", nil)))
				for _, e := range exposedCalls(t, &http.Client{Transport: r}, acct.ConnectionString(), "people", mode == "accelerated") {
					r.requests, r.elsewhere, r.active = 0, nil, true
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					err := e.call(ctx)
					cancel()
					r.active = false
					assert.Equal(t, len(r.elsewhere), 0, e.name, "the other host received", r.elsewhere)
					assert.WantError(t, err, patterns.ErrBadReply, e.name)
					for _, c := range certain {
						if errors.Is(err, c) {
							t.Errorf("%s: %v is certain: %v", e.name, c, err)
						}
					}
					if !e.write && r.requests > 1 && e.name != "Scan" {
						t.Errorf("%s: %d requests", e.name, r.requests)
					}
				}
			})
		}
	}
}
