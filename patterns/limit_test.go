package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// flood produces endless bodies and measures how much memory their readers use.
type flood struct {
	mu     sync.Mutex
	bodies int    // open now
	most   int    // open at the same time
	peak   uint64 // the most memory in use
	broken bool   // a body was read beyond any limit
}

// torrent is one endless body: head once, then row forever.
type torrent struct {
	flood     *flood
	head, row string
	at, total int
	sampled   int
	closed    bool
}

func (f *flood) body(head, row string) io.ReadCloser {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies++
	f.most = max(f.most, f.bodies)
	return &torrent{flood: f, head: head, row: strings.Repeat(row, 4096)}
}

func (s *torrent) Read(p []byte) (int, error) {
	n := copy(p, s.head)
	s.head = s.head[n:]
	for n < len(p) {
		m := copy(p[n:], s.row[s.at:])
		s.at = (s.at + m) % len(s.row)
		n += m
	}
	if s.total += n; s.total-s.sampled >= 15<<20 {
		s.sampled = s.total
		s.flood.sample()
	}
	if s.total > 64<<20 {
		s.flood.mu.Lock()
		s.flood.broken = true
		s.flood.mu.Unlock()
		return n, errors.New("read beyond any limit")
	}
	return n, nil
}

func (s *torrent) Close() error {
	s.flood.sample()
	s.flood.mu.Lock()
	defer s.flood.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.flood.bodies--
	}
	return nil
}

func (f *flood) sample() {
	used := inUse()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peak = max(f.peak, used)
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// floods are replies without end.
var floods = []struct {
	name, contentType, head, row string
	status                       int
	length                       int64
}{
	{"rows", "application/json", `{"value":[`, `{},`, http.StatusOK, -1},
	{"a wrong length", "application/xml", `<?xml version="1.0"?><EnumerationResults><Blobs>`, `<Blob><Name>a</Name></Blob>`, http.StatusOK, 10},
	{"an outage", "text/html", "<html>", "x", http.StatusServiceUnavailable, 1 << 50},
}

func TestEndlessRepliesTakeLittleMemory(t *testing.T) {
	sample := harness.Sample(t, 2)
	for m, mode := range []string{"plain", "accelerated"} {
		for i, a := range floods {
			if !sample(m + i) {
				continue // the other mode runs it
			}
			t.Run(mode+"/"+a.name, func(t *testing.T) {
				acct := storagetest.New(t)
				m := &middle{inner: acct.Transport()}
				assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "people", nil)))
				for _, e := range exposedCalls(t, m, acct.ConnectionString(), "people", mode == "accelerated") {
					f := new(flood)
					m.requests.Store(0)
					before := inUse()
					m.replace = func(_ int64, req *http.Request, _ *http.Response) *http.Response {
						return &http.Response{
							StatusCode: a.status, Request: req, Body: f.body(a.head, a.row), ContentLength: a.length,
							Header: http.Header{"Content-Type": {a.contentType}, "Content-Length": {strconv.FormatInt(a.length, 10)}},
						}
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					err := e.call(ctx)
					cancel()
					m.replace = nil
					assert.Failed(t, err, e.name, "succeeds")
					if n := m.requests.Load(); n > 100 {
						t.Errorf("%s: %d requests", e.name, n)
					}
					// Each request may have a page of 16 MiB in a buffer that grows in steps.
					if most := uint64(16+24*f.most) << 20; f.broken || f.peak > before+most {
						t.Errorf("%s: %d MiB for %d concurrent requests", e.name, int64(f.peak-before)>>20, f.most)
					}
				}
			})
		}
	}
}

// trickle is a body that sends one byte a second until its request ends.
type trickle struct{ ctx context.Context }

func (s trickle) Read(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	}
}

func TestASlowEndlessReplyEndsWithTheContext(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
			t.Run(fmt.Sprint(mode, "/", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					acct := storagetest.New(t)
					m := &middle{inner: acct.Transport()}
					assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "people", nil)))
					for _, e := range exposedCalls(t, m, acct.ConnectionString(), "people", mode == "accelerated") {
						m.replace = func(_ int64, req *http.Request, real *http.Response) *http.Response {
							return &http.Response{StatusCode: status, Request: req, Header: real.Header, Body: io.NopCloser(trickle{req.Context()}), ContentLength: -1}
						}
						m.requests.Store(0)
						ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
						start := time.Now()
						err := e.call(ctx)
						cancel()
						m.replace = nil
						if took := time.Since(start); err == nil || took > time.Hour+time.Minute || m.requests.Load() > 100 {
							t.Errorf("%s: %v after %v and %d requests", e.name, err, took, m.requests.Load())
						}
					}
				})
			})
		}
	}
}
