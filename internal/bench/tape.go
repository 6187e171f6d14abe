package bench

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// tape is a transport that records the replies of an account in the first run of an
// operation, and replays them afterwards. It is safe for concurrent use.
type tape struct {
	account policy.Transporter

	mu      sync.Mutex
	replay  bool
	replies []recorded
	sent    int // requests since the last rewind
}

// recorded is a reply, and the request that it belongs to.
type recorded struct {
	method, path, query string

	status int
	header http.Header
	body   []byte
	taken  bool // by a request of this run
}

// reply is a reply of a tape, in one allocation.
type reply struct {
	http.Response
	body bytes.Reader
}

func (r *reply) Read(p []byte) (int, error) { return r.body.Read(p) }
func (r *reply) Close() error               { return nil }

var errNotRecorded = errors.New("the first run of this operation sent no such request")

// Do implements policy.Transporter.
func (t *tape) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && t.replaying() {
		io.Copy(io.Discard, req.Body)
		req.Body.Close() // as net/http does
	}
	if !t.replaying() {
		return t.record(req)
	}
	r, err := t.next(req)
	if err != nil {
		return nil, err
	}
	a := &reply{Response: http.Response{
		StatusCode: r.status, ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: r.header, ContentLength: int64(len(r.body)),
	}}
	a.body.Reset(r.body)
	a.Body = a
	return &a.Response, nil
}

func (t *tape) replaying() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replay
}

// record sends the request to the account.
func (t *tape) record(req *http.Request) (*http.Response, error) {
	resp, err := t.account.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replies = append(t.replies, recorded{
		method: req.Method, path: req.URL.Path, query: req.URL.RawQuery, status: resp.StatusCode, header: resp.Header.Clone(), body: body,
	})
	return resp, nil
}

// next returns the first reply that was not taken yet to a request for the same address. If
// there is none, the addresses contain random text or a time, and the first reply to a
// request with the same method is returned.
func (t *tape) next(req *http.Request) (*recorded, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
	var similar *recorded
	for i := range t.replies {
		r := &t.replies[i]
		if r.taken || r.method != req.Method {
			continue
		}
		if r.path == req.URL.Path && r.query == req.URL.RawQuery {
			r.taken = true
			return r, nil
		}
		if similar == nil {
			similar = r
		}
	}
	if similar == nil {
		return nil, errNotRecorded
	}
	similar.taken = true
	return similar, nil
}

// rewind makes all replies available again. After the first call nothing is recorded.
func (t *tape) rewind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replay, t.sent = true, 0
	for i := range t.replies {
		t.replies[i].taken = false
	}
}
