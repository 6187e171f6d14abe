package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/target"
)

// Client is the transport of one process, and its connection to the [Queue]. Its methods are for the goroutines of that process.
type Client struct {
	Name string

	world *World
	Keeps bool // the process knows more of the operations that have ended than their results

	free bool // requests do not wait
	read *target.Request

	mu      sync.Mutex // guards what follows; the search holds it only while the process waits
	dead    bool
	waiting []*request
	begins  bool      // no request of the operation was carried out yet
	began   time.Time // when the first one was
	past    []string  // what is known of the operations that have ended
	seen    []string  // what the present one was answered
	done    bool      // Run has returned
	lost    int       // requests of the operation that got no reply
	nth     int       // of the messages that it has put
	paused  func()    // delivers the reply that a paused process waits for
}

// request is a request that waits to be chosen.
type request struct {
	client *Client
	raw    string // what it asks for
	text   string // likewise, with the names of ids and versions
	access access
	late   bool            // it may arrive late
	among  func() []string // what can be chosen for it, nil for a request that has no alternatives
	do     func(ctx context.Context, among string) (reply string, err error)
	answer chan error
}

// access is what a request reads or writes.
type access struct {
	places []string // a place contains all those that begin with it and U+0000
	writes bool
}

func (a access) conflicts(b access) bool {
	if !a.writes && !b.writes {
		return false
	}
	for _, p := range a.places {
		for _, q := range b.places {
			if p == q || strings.HasPrefix(p, q+"\x00") || strings.HasPrefix(q, p+"\x00") {
				return true
			}
		}
	}
	return false
}

// Dead reports whether the process has crashed, or the run has ended.
func (c *Client) Dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// Begin marks the beginning of an operation: its first request, if it makes any. It returns a function that returns when
// that was carried out.
func (c *Client) Begin() func() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begins, c.began, c.lost = true, time.Time{}, 0
	return func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.began.IsZero() {
			return time.Now()
		}
		return c.began
	}
}

// Lost returns how many requests of the operation got no reply.
func (c *Client) Lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// End marks the end of an operation. Its result, and those of the operations before, is all that the process still knows, unless Keeps is set.
func (c *Client) End(result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return
	}
	c.past = append(c.past, c.world.names.in(c.Name, result))
	if !c.Keeps {
		c.seen = nil
	}
}

// wait waits until r is chosen and answered.
func (c *Client) wait(r *request) error {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return harness.ErrDead
	}
	r.client, r.answer = c, make(chan error, 1)
	if c.free {
		c.mu.Unlock()
		among := ""
		if r.among != nil {
			all := r.among()
			if len(all) == 0 {
				return errNone
			}
			among = all[0]
		}
		_, err := r.do(context.Background(), among)
		return err
	}
	c.waiting = append(c.waiting, r)
	c.mu.Unlock()
	return <-r.answer
}

var errNone = errors.New("nothing can be chosen")

// Do sends a request.
func (c *Client) Do(req *http.Request) (res *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	r := &request{
		raw:  fmt.Sprintf("%s %s %s\n%s", req.Method, req.URL.RequestURI(), req.Header.Get("If-Match"), brief(body)),
		late: req.Method != http.MethodGet,
		do: func(ctx context.Context, _ string) (string, error) {
			reply, err := c.world.inner.Do(withBody(req.Clone(ctx), body))
			if err != nil {
				return "", err
			}
			text, err := io.ReadAll(reply.Body)
			reply.Body = io.NopCloser(bytes.NewReader(text))
			res = reply
			return fmt.Sprintf("%d %s\n%s", reply.StatusCode, reply.Header.Get("ETag"), brief(text)), err
		},
	}
	if !c.free {
		r.access = c.accessOf(req, body)
	}
	err = c.wait(r)
	calls.TraceRequest(req)
	if err != nil {
		return nil, err
	}
	calls.TraceReply(req)
	return res, nil
}

// withBody returns req with a body.
func withBody(req *http.Request, body []byte) *http.Request {
	req.Body = http.NoBody // with another empty body the length would be unknown
	if len(body) > 0 {
		req.Body = streaming.NopCloser(bytes.NewReader(body)) // unlike that of io, one that can be rewound: see package target
		req.GetBody = func() (io.ReadCloser, error) { return streaming.NopCloser(bytes.NewReader(body)), nil }
	}
	return req
}

// accessOf returns the rows that a request addresses. A query reads its partition, or the table.
func (c *Client) accessOf(req *http.Request, body []byte) access {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Read(withBody(req.Clone(context.Background()), body))
	a := access{writes: req.Method != http.MethodGet}
	for _, span := range c.read.Rows {
		a.places = append(a.places, string(c.read.In(span)))
	}
	if c.read.Kind == target.Query {
		a.places = []string{strings.TrimRight(string(c.read.In(c.read.Partition)), "\x00")}
		if a.places[0] == "" {
			a.places[0] = string(c.read.In(c.read.Resource))
		}
	}
	if len(a.places) == 0 {
		a.places = []string{string(c.read.In(c.read.Resource))}
	}
	if c.read.Kind == target.Batch && (len(c.read.Rows) == 0 || c.read.Every > 1) || len(body) > 0 && c.read.Kind == target.Write && c.read.Partition == (target.TextSpan{}) {
		panic("the rows of a transaction or insert are not known: " + string(body)) // its orders would not be distinguished
	}
	return a
}

// brief leaves the lines of a transaction, or of its reply, out that are always the same.
func brief(body []byte) string {
	if !bytes.HasPrefix(body, []byte("--batch")) {
		return string(body)
	}
	var b strings.Builder
	for line := range strings.Lines(string(body)) {
		for _, begin := range [...]string{"{", "POST", "PUT", "DELETE", "PATCH", "MERGE", "If-Match", "HTTP/1.1", "ETag"} {
			if strings.HasPrefix(line, begin) {
				b.WriteString(strings.TrimSpace(line))
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
