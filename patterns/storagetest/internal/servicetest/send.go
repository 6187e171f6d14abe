package servicetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Reply is what a handler sent, with the error code apart.
type Reply struct {
	Status int
	Code   string // of an error
	Header http.Header
	Body   string
}

// Send sends one request. target is the path and query. head consists of name, value pairs;
// a Content-Length in it overrides the length of the body, and -1 means that the length is
// not declared.
func Send(t testing.TB, h http.Handler, method, target, body string, head ...string) Reply {
	t.Helper()
	u, err := url.Parse("https://account.example" + target)
	if err != nil {
		t.Fatal(err)
	}
	r := (&http.Request{
		Method: method, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(t.Context())
	for i := 0; i+1 < len(head); i += 2 {
		switch {
		case head[i] == "Content-Length":
			if r.ContentLength, err = strconv.ParseInt(head[i+1], 10, 64); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(head[i], "x-ms-meta-"):
			r.Header[head[i]] = append(r.Header[head[i]], head[i+1])
		default:
			r.Header.Add(head[i], head[i+1])
		}
	}
	return Do(t, h, r)
}

// Do is Send for an http.Request. It fails the test if the service would not send such a
// reply: an internal error, an error without its code, missing headers, or a wrong length.
func Do(t testing.TB, h http.Handler, r *http.Request) Reply {
	t.Helper()
	if r.ContentLength == 0 {
		r.Body = http.NoBody // as net/http does
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := Reply{Status: w.Code, Code: w.Header().Get("X-Ms-Error-Code"), Header: w.Header(), Body: w.Body.String()}
	xmlservice.CanonicalNames(a.Header)
	if a.Status >= 500 && a.Status != http.StatusNotImplemented || a.Status < 200 {
		t.Errorf("%s %s: status %d", r.Method, r.URL, a.Status)
	}
	if a.Status >= 400 && a.Code == "" {
		t.Errorf("%s %s: status %d without a code", r.Method, r.URL, a.Status)
	}
	if a.Status >= 400 && r.Method != http.MethodHead && !strings.Contains(a.Body, "<Code>"+a.Code+"</Code>") {
		t.Errorf("%s %s: code %s is not in the body", r.Method, r.URL, a.Code)
	}
	for _, name := range []string{"Date", "X-Ms-Request-Id", "X-Ms-Version"} {
		if a.Header.Get(name) == "" {
			t.Errorf("%s %s: no %s", r.Method, r.URL, name)
		}
	}
	if n := a.Header.Get("Content-Length"); n != "" && r.Method != http.MethodHead && n != strconv.Itoa(w.Body.Len()) {
		t.Errorf("%s %s: Content-Length %s for %d bytes", r.Method, r.URL, n, w.Body.Len())
	}
	if r.Method == http.MethodHead && w.Body.Len() > 0 {
		t.Errorf("%s %s: a body of %d bytes", r.Method, r.URL, w.Body.Len())
	}
	return a
}

// Want checks status and code.
func (a Reply) Want(t testing.TB, status int, code string) Reply {
	t.Helper()
	if a.Status != status || a.Code != code {
		t.Errorf("got %d %s, want %d %s\n%s", a.Status, a.Code, status, code, a.Body)
	}
	return a
}
