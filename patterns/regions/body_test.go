package regions_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// flaw is what happens to a body after some of its bytes.
type flaw string

const (
	cut   flaw = "cut"   // the connection is lost
	short flaw = "short" // it ends, although the headers promise more
	stall flaw = "stall" // nothing more arrives
	slow  flaw = "slow"  // each further byte takes a second
	dead  flaw = "dead"  // no headers arrive, either
)

// flawed is a body with a flaw. As those of net/http do, it ends when its request is cancelled.
type flawed struct {
	io.ReadCloser
	ctx  context.Context
	kind flaw
	left int
}

func (f *flawed) Read(p []byte) (int, error) {
	if f.left > 0 {
		n, err := f.ReadCloser.Read(p[:min(len(p), f.left)])
		f.left -= n
		return n, err
	}
	wait := time.Second
	switch f.kind {
	case cut:
		return 0, io.ErrUnexpectedEOF
	case short:
		return 0, io.EOF
	case stall:
		wait = time.Hour
	}
	select {
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	case <-time.After(wait):
		return f.ReadCloser.Read(p[:1])
	}
}

// flawedPrimary is a transport to w. While at is not negative, replies of its primary have a flaw after
// that many bytes of the body.
type flawedPrimary struct {
	w    *world
	kind flaw
	at   atomic.Int64
	size atomic.Int64 // of the last body
}

func (f *flawedPrimary) Do(req *http.Request) (*http.Response, error) {
	resp, err := f.w.send(req)
	if err != nil || strings.Contains(req.URL.Host, "-secondary") || req.Method != http.MethodGet {
		return resp, err
	}
	f.size.Store(resp.ContentLength)
	if at := f.at.Load(); at >= 0 && f.kind == dead {
		_ = resp.Body.Close()
		<-req.Context().Done()
		return nil, req.Context().Err()
	} else if at >= 0 {
		resp.Body = &flawed{resp.Body, req.Context(), f.kind, int(at)}
	}
	return resp, err
}

// withFlaws opens the table of w behind a new pair.
func (w *world) withFlaws(t *testing.T, kind flaw, accelerated bool) (*flawedPrimary, *regions.Table[row]) {
	primary := &flawedPrimary{w: w, kind: kind}
	primary.at.Store(-1)
	client := harness.Open(t, w.account.ConnectionString(), "Rows", accelerated, attached(new(regions.Pair), primary))
	return primary, assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
}

// TestABodyThatFailsAtAnyByteIsSurvived reads a row, a page, the page after it, and all by a scan. The
// body of the primary's reply fails at each of its bytes. No read takes longer than if the primary
// does not reply at all.
func TestABodyThatFailsAtAnyByteIsSurvived(t *testing.T) {
	for _, accelerated := range []bool{false, true} {
		longest := map[string]time.Duration{}
		for _, kind := range []flaw{dead, cut, short, stall, slow} {
			t.Run(fmt.Sprintf("%s/accelerated=%v", kind, accelerated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { everyByte(t, kind, accelerated, longest) })
			})
		}
	}
}

// everyByte sets the longest times of reads if kind is dead, and compares them otherwise.
func everyByte(t *testing.T, kind flaw, accelerated bool, longest map[string]time.Duration) {
	w := open(t, false, nil)
	harness.WithoutTargets(w.account)
	all := w.insert(t, 1, 3)
	w.replicate()
	f, opts := query.PartitionKey.Eq("p00"), &patterns.QueryOptions{PageSize: 2}
	reads := map[string]func(*regions.Table[row], string) ([]regions.Item[row], error){
		"row": func(table *regions.Table[row], _ string) ([]regions.Item[row], error) {
			item, err := table.Get(t.Context(), all[0].key())
			return []regions.Item[row]{item}, err
		},
		"page": func(table *regions.Table[row], cursor string) ([]regions.Item[row], error) {
			page, err := table.Page(t.Context(), f, cursor, opts)
			return page.Items, err
		},
		"scan": func(table *regions.Table[row], _ string) (items []regions.Item[row], err error) {
			for page, err := range table.Scan(t.Context(), f, "", nil) {
				if err != nil {
					return nil, err
				}
				items = append(items, page.Items...)
			}
			return items, nil
		},
	}
	want := map[string][]row{"row": all[:1], "page": all[:2], "scan": all, "next page": all[2:]}
	reads["next page"] = reads["page"]
	for name, read := range reads {
		primary, table := w.withFlaws(t, kind, accelerated)
		cursor := ""
		if name == "next page" {
			cursor = assert.Must(table.Page(t.Context(), f, "", opts))(t).Cursor
		}
		assert.Must(read(table, cursor))(t)
		size := primary.size.Load()
		if size < 100 {
			t.Fatalf("a body of %d bytes", size)
		}
		if kind == dead {
			size = 2
		}
		for at := range size {
			primary, table := w.withFlaws(t, kind, accelerated)
			if name == "next page" {
				cursor = assert.Must(table.Page(t.Context(), f, "", opts))(t).Cursor
			}
			primary.at.Store(at)
			began := time.Now()
			items, err := read(table, cursor)
			took := time.Since(began)
			if kind == dead {
				longest[name] = max(longest[name], took)
			}
			if err != nil || took > longest[name] {
				t.Fatalf("%s, byte %d of %d: after %v, want %v: %+v", name, at, size, took, longest[name], err)
			}
			var got []row
			for _, item := range items {
				got = append(got, item.Value)
				// The last byte of a slow body may arrive in time.
				if item.Region != regions.Secondary && at < size-1 {
					t.Fatalf("%s, byte %d of %d: from the %s", name, at, size, item.Region)
				}
			}
			assert.EqualSlices(assert.Now(t), got, want[name], name, "byte", at)
		}
	}
	time.Sleep(time.Minute) // probes end
	assert.Equal(t, w.bodies.Load(), 0, "bodies of replies were not closed")
}

// The primary sends headers and a part of the body, and then nothing, for a minute.
func TestAPrimaryThatStallsInItsBodiesIsFoundToBeDown(t *testing.T) {
	const large = 200 << 10 // bytes that arrive, more than those that show that a region still sends
	for _, arrives := range []int{0, 50, large} {
		inBothModes(t, func(t *testing.T, w *world) {
			one := w.insert(t, 1, 1)[0]
			w.replicate()
			var stalled atomic.Bool
			send := harness.Transport(func(req *http.Request) (*http.Response, error) {
				resp, err := w.send(req)
				if err != nil || !stalled.Load() || strings.Contains(req.URL.Host, "-secondary") {
					return resp, err
				}
				text := strings.Repeat(" ", large)
				_ = resp.Body.Close()
				resp.ContentLength = -1
				resp.Body = &flawed{io.NopCloser(strings.NewReader(text)), req.Context(), stall, arrives}
				return resp, nil
			})
			client := harness.Open(t, w.account.ConnectionString(), "Rows", true, attached(new(regions.Pair), send))
			table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
			w.take(network(0))
			for range 100 {
				assert.Must(table.Get(t.Context(), one.key()))(t)
			}
			stalled.Store(true)
			late := 0
			for range 96 {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				item, err := table.Get(ctx, one.key())
				cancel()
				took := time.Since(began)
				if err != nil || item.Region != regions.Secondary || took > 1200*time.Millisecond {
					t.Fatalf("after %v: %v, %+v", took, err, item.Source)
				}
				if took > 50*time.Millisecond {
					late++
				}
				time.Sleep(600 * time.Millisecond)
			}
			if late > 3 {
				t.Errorf("%d of 96 reads took over 50 ms", late)
			}
			stalled.Store(false)
			time.Sleep(time.Minute)
		})
	}
}

// A page that takes long because it is large is no outage while its bytes arrive.
func TestALargePageOverASlowLineIsNoOutage(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		all := w.insert(t, 1, 4)
		w.replicate()
		send := harness.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := w.send(req)
			if err == nil && req.Method == http.MethodGet {
				text := string(assert.Must(io.ReadAll(resp.Body))(t))
				_ = resp.Body.Close()
				resp.ContentLength = -1
				resp.Body = &paced{strings.NewReader(strings.Repeat(" ", 1<<20) + text), req.Context()} // spaces are valid JSON
			}
			return resp, err
		})
		client := harness.Open(t, w.account.ConnectionString(), "Rows", true, attached(new(regions.Pair), send))
		table := assert.Must(regions.NewTable(assert.Must(patterns.NewTable[row](client, nil))(t), nil))(t)
		n := 0
		for page, err := range table.Scan(t.Context(), query.PartitionKey.Eq("p00"), "", &patterns.QueryOptions{PageSize: 1, Parallel: 1}) {
			if err != nil || page.Region != regions.Primary {
				t.Fatalf("%v, from the %s", err, page.Region)
			}
			n += len(page.Items)
		}
		assert.Equal(t, n, len(all))
		time.Sleep(time.Minute)
	})
}

// paced is a body of which 16 KiB arrive in 50 ms.
type paced struct {
	*strings.Reader
	ctx context.Context
}

func (p *paced) Read(b []byte) (int, error) {
	select {
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	case <-time.After(50 * time.Millisecond):
		return p.Reader.Read(b[:min(len(b), 16<<10)])
	}
}

func (p *paced) Close() error { return nil }
