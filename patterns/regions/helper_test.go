package regions_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type row struct {
	PartitionKey, RowKey string
	N                    int64
}

func (r row) key() keys.Key { return keys.Key{Partition: r.PartitionKey, Row: r.RowKey} }

// world is an account with two regions, and a table that is read from both.
type world struct {
	account *storagetest.Account
	pair    *regions.Pair
	service *aztables.ServiceClient
	rows    *patterns.Table[row] // for writes
	table   *regions.Table[row]
	delay   atomic.Pointer[func(regions.Region) time.Duration] // of each read
	fail    atomic.Pointer[func(regions.Region) bool]          // reads that get no reply
	foreign atomic.Int64                                       // requests with a token of the other region
	late    atomic.Bool                                        // an abandoned request gets its reply nevertheless
	running atomic.Int64                                       // requests without a reply yet
	bodies  atomic.Int64                                       // open ones
	sent    [3]atomic.Int64                                    // requests, also abandoned ones
}

// The indexes of the requests that were sent.
const (
	toPrimary = iota
	toSecondary
	forStats
)

// take makes reads take as long as delay returns. It is called concurrently.
func (w *world) take(delay func(regions.Region) time.Duration) { w.delay.Store(&delay) }

// send sends a request after its delay.
func (w *world) send(req *http.Request) (*http.Response, error) {
	region, kind := regions.Primary, toPrimary
	if strings.Contains(req.URL.Host, "-secondary") {
		region, kind = regions.Secondary, toSecondary
	}
	if strings.Contains(req.URL.RawQuery, "comp=stats") {
		kind = forStats
	}
	w.sent[kind].Add(1)
	w.running.Add(1)
	defer w.running.Add(-1)
	if delay := w.delay.Load(); delay != nil {
		select {
		case <-time.After((*delay)(region)):
		case <-req.Context().Done():
			if !w.late.Load() {
				return nil, req.Context().Err()
			}
			req = req.WithContext(context.WithoutCancel(req.Context()))
		}
	}
	if fail := w.fail.Load(); fail != nil && (*fail)(region) {
		return nil, errors.New("no reply")
	}
	return w.mark(region, req)
}

// counted calls closed when it is closed.
type counted struct {
	io.ReadCloser
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.ReadCloser.Close()
}

// attached returns a transport with a pair.
func attached(p *regions.Pair, inner policy.Transporter) policy.Transporter {
	o := azcore.ClientOptions{Transport: inner}
	p.Attach(&o)
	return o.Transport
}

// mark adds the region to continuation tokens, and refuses those of the other region.
func (w *world) mark(region regions.Region, req *http.Request) (*http.Response, error) {
	const parameter, header = "NextPartitionKey", "x-ms-continuation-NextPartitionKey"
	if q := req.URL.Query(); q.Has(parameter) {
		token, ok := strings.CutPrefix(q.Get(parameter), string(region))
		if !ok {
			w.foreign.Add(1)
			return nil, errors.New("a token of the other region")
		}
		q.Set(parameter, token)
		req = req.Clone(req.Context())
		req.URL.RawQuery = q.Encode()
	}
	resp, err := w.account.Transport().Do(req)
	if err == nil {
		w.bodies.Add(1)
		resp.Body = &counted{resp.Body, sync.OnceFunc(func() { w.bodies.Add(-1) })}
	}
	if err == nil && resp.Header.Get(header) != "" {
		resp.Header.Set(header, string(region)+resp.Header.Get(header))
	}
	return resp, err
}

// lag is how long the secondary is behind.
const lag = time.Minute

// inBothModes runs body in virtual time with a plain and an accelerated client.
func inBothModes(t *testing.T, body func(t *testing.T, w *world)) {
	t.Helper()
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { body(t, open(t, mode == "accelerated", nil)) })
		})
	}
}

func open(t *testing.T, accelerated bool, o *storagetest.Options) *world {
	t.Helper()
	w := &world{account: storagetest.Start(o), pair: new(regions.Pair)}
	var opts aztables.ClientOptions
	opts.Transport = harness.Transport(w.send)
	w.pair.Attach(&opts.ClientOptions)
	options := &opts
	if accelerated {
		patterns.Accelerate(&options.ClientOptions)
	}
	w.service = assert.Must(aztables.NewServiceClientFromConnectionString(w.account.ConnectionString(), options))(t)
	w.pair.Use(w.service)
	w.rows = assert.Must(patterns.NewTable[row](w.service.NewClient("Rows"), nil))(t)
	w.table = assert.Must(regions.NewTable(w.rows, nil))(t)
	assert.NoError(t, w.rows.Create(t.Context()))
	w.account.Replicate(lag)
	return w
}

// insert inserts n rows in each of some partitions.
func (w *world) insert(t *testing.T, partitions, n int) []row {
	t.Helper()
	var all []row
	for p := range partitions {
		for i := range n {
			r := row{fmt.Sprintf("p%02d", p), fmt.Sprintf("r%04d", i), int64(i)}
			assert.Must(w.rows.Insert(t.Context(), &r))(t)
			all = append(all, r)
		}
	}
	return all
}

// replicate waits until the secondary has everything.
func (w *world) replicate() {
	time.Sleep(lag + time.Second)
	w.reset()
}

// reset forgets the requests.
func (w *world) reset() {
	for i := range w.sent {
		w.sent[i].Store(0)
	}
	w.account.ResetLog()
}

// wantRequests checks the requests since the last check.
func (w *world) wantRequests(t *testing.T, primary, secondary, stats int64) {
	t.Helper()
	if p, s, n := w.sent[toPrimary].Load(), w.sent[toSecondary].Load(), w.sent[forStats].Load(); p != primary || s != secondary || n != stats {
		t.Errorf("%d requests to the primary, %d to the secondary, %d for statistics; want %d, %d, %d:\n%v", p, s, n, primary, secondary, stats, w.account.Log())
	}
	w.reset()
}

// warm makes reads until the latencies of the primary are known.
func (w *world) warm(t *testing.T, r row, n int) {
	t.Helper()
	for range n {
		assert.Must(w.table.Get(t.Context(), r.key()))(t)
	}
	w.reset()
}

func get(ctx context.Context, w *world, r row) error {
	_, err := w.table.Get(ctx, r.key())
	return err
}
