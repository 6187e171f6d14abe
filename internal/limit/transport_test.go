package limit

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

type fixed func(*http.Request) *http.Response

func (f fixed) Do(req *http.Request) (*http.Response, error) { return f(req), nil }

// read returns how many bytes of a body of size bytes arrive.
func read(t *testing.T, status int, req *http.Request, size int64) (int64, error) {
	t.Helper()
	zeros := io.LimitReader(zero{}, size)
	inner := fixed(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: status, Body: io.NopCloser(zeros)}
	})
	resp := assert.Must(Transport(inner).Do(req))(t)
	return io.Copy(struct{ io.Writer }{io.Discard}, resp.Body)
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func request(method, url, accept string) *http.Request {
	req, _ := http.NewRequest(method, url, nil)
	req.Header.Set("Accept", accept)
	return req
}

func TestBodiesUpToTheLimitArriveWhole(t *testing.T) {
	list := request(http.MethodGet, "https://x/box?comp=list", "application/xml")
	for _, size := range []int64{0, 1, 1 << 20, MaxReply - 1, MaxReply} {
		if n, err := read(t, http.StatusOK, list, size); n != size || err != nil {
			t.Errorf("%d of %d bytes: %v", n, size, err)
		}
	}
	if n, err := read(t, http.StatusOK, list, MaxReply+1); n != MaxReply || !errors.Is(err, azerr.ErrBadReply) || err != ErrTooLong {
		t.Errorf("%d bytes: %v", n, err)
	}
}

func TestABodyOfAFailureEndsAtTheLimit(t *testing.T) {
	content := request(http.MethodGet, "https://x/box/blob", "application/xml")
	for _, size := range []int64{5, maxError, maxError + 1, 1 << 40} {
		if n, err := read(t, http.StatusBadGateway, content, size); n != min(size, maxError) || err != nil {
			t.Errorf("%d of %d bytes: %v", n, size, err)
		}
	}
}

func TestOnlyTheContentOfABlobIsNotLimited(t *testing.T) {
	for _, c := range []struct {
		method, url, accept string
		limited             bool
	}{
		{http.MethodGet, "box/messages", "application/xml", false},
		{http.MethodGet, "box/blob?snapshot=1&sig=x", "application/xml", false},
		{http.MethodGet, "box?comp=list&restype=container", "application/xml", true},
		{http.MethodGet, "jobs/messages?numofmessages=32", "application/xml", true},
		{http.MethodGet, "jobs/messages?peekonly=true", "application/xml", true},
		{http.MethodGet, "people()", "application/json;odata=minimalmetadata", true},
		{http.MethodGet, "Tables", "application/json", true},
		{http.MethodPut, "box/blob", "application/xml", true},
		{http.MethodPost, "$batch", "application/json", true},
	} {
		_, err := read(t, http.StatusOK, request(c.method, "https://x/"+c.url, c.accept), MaxReply+1)
		if limited := err != nil; limited != c.limited {
			t.Errorf("%s %s: limited is %v", c.method, c.url, limited)
		}
	}
}

func TestLimitsAreNotAddedTwice(t *testing.T) {
	once := Transport(nil)
	assert.Equal(t, Transport(once), once, "a second transport")
}

func TestAReplyWithoutABodyIsNotChanged(t *testing.T) {
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		inner := fixed(func(*http.Request) *http.Response {
			return &http.Response{StatusCode: http.StatusNoContent, Body: body}
		})
		resp, _ := Transport(inner).Do(request(http.MethodGet, "https://x", ""))
		assert.Equal(t, resp.Body, body, "another body")
	}
	if n, err := io.Copy(io.Discard, &limitedBody{ReadCloser: io.NopCloser(strings.NewReader("ab")), left: 2, then: io.EOF}); n != 2 || err != nil {
		t.Error(n, err)
	}
}

func TestABodyThatIsNotNeededIsRemovedFromAReplyOfSuccess(t *testing.T) {
	put := request(http.MethodPost, "https://x/queue/messages", "application/xml")
	without := put.WithContext(WithoutBody(t.Context()))
	for _, c := range []struct {
		status int
		req    *http.Request
		want   int64
	}{{http.StatusCreated, put, 300}, {http.StatusCreated, without, 0}, {http.StatusBadRequest, without, 300}} {
		if n, err := read(t, c.status, c.req, 300); n != c.want || err != nil {
			t.Errorf("status %d: %d bytes, want %d: %v", c.status, n, c.want, err)
		}
	}
}
