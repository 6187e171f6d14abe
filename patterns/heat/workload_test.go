package heat_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// service answers requests of the SDK in virtual time.
type service struct {
	wait   time.Duration
	rows   int // of a page
	more   int // pages that follow the first of a query
	status int // of writes, 0 for success
	queued int // messages in each reply
	dials  bool
}

func (s *service) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil {
		conn, _ := net.Pipe()
		trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: !s.dials})
	}
	if s.wait > 0 {
		time.Sleep(s.wait)
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req, ContentLength: -1}
	body := "{}"
	switch {
	case strings.Contains(req.URL.Path, "/messages"):
		resp.StatusCode = http.StatusOK
		body = "<QueueMessagesList>" + strings.Repeat("<QueueMessage><MessageId>1</MessageId><InsertionTime>Thu, 01 Jan 2026 00:00:00 GMT</InsertionTime></QueueMessage>", s.queued) + "</QueueMessagesList>"
	case req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "()"):
		body = `{"value":[` + strings.TrimSuffix(strings.Repeat(`{"PartitionKey":"a","RowKey":"b"},`, s.rows), ",") + "]}"
		if page := len(req.URL.Query().Get("NextPartitionKey")); page < s.more {
			resp.Header.Set("x-ms-continuation-NextPartitionKey", strings.Repeat("x", page+1))
		}
	case req.Method == http.MethodGet:
	case s.status != 0:
		resp.StatusCode = s.status
	case strings.HasSuffix(req.URL.Path, "$batch"):
		resp.StatusCode = http.StatusAccepted
		resp.Header.Set("Content-Type", "multipart/mixed; boundary=b")
		body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n--b--\r\n"
	default:
		resp.StatusCode = http.StatusNoContent
	}
	resp.Body = io.NopCloser(bytes.NewReader([]byte(body)))
	return resp, nil
}

// program is a program with hand-written aztables code.
type program struct {
	t     *testing.T
	ctx   context.Context
	meter *heat.Meter
	s     *service
	table *aztables.Client
	queue *azqueue.QueueClient
	rand  *rand.Rand
}

func newProgram(t *testing.T, s *service) *program {
	p := &program{t: t, ctx: t.Context(), meter: newMeter(t, nil), s: s, rand: rand.New(rand.NewPCG(1, 2))}
	var opts azcore.ClientOptions
	opts.Transport = s
	opts.Retry = policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Millisecond}
	p.meter.Attach(&opts)
	var err error
	if p.table, err = aztables.NewClientWithNoCredential("https://account.table.core.windows.net/Orders", &aztables.ClientOptions{ClientOptions: opts}); err != nil {
		t.Fatal(err)
	}
	if p.queue, err = azqueue.NewQueueClientWithNoCredential("https://account.queue.core.windows.net/jobs", &azqueue.ClientOptions{ClientOptions: opts}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *program) must(err error) {
	if e := (*azcore.ResponseError)(nil); err != nil && !(errors.As(err, &e) && p.s.status != 0) {
		p.t.Helper()
		p.t.Fatal(err)
	}
}

func (p *program) insert(pk, rk string) {
	_, err := p.table.AddEntity(p.ctx, fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q,"N":1}`, pk, rk), nil)
	p.must(err)
}

func (p *program) upsert(pk, rk, value string) {
	_, err := p.table.UpsertEntity(p.ctx, fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q,"V":%q}`, pk, rk, value), nil)
	p.must(err)
}

func (p *program) get(pk, rk string) {
	_, err := p.table.GetEntity(p.ctx, pk, rk, nil)
	p.must(err)
}

func (p *program) query(filter string) {
	opts := &aztables.ListEntitiesOptions{}
	if filter != "" {
		opts.Filter = &filter
	}
	for pager := p.table.NewListEntitiesPager(opts); pager.More(); {
		_, err := pager.NextPage(p.ctx)
		p.must(err)
	}
}

// batch writes n rows of a partition.
func (p *program) batch(pk string, first, n int) {
	var actions []aztables.TransactionAction
	for i := range n {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace,
			Entity: fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":"%08d"}`, pk, first+i)})
	}
	_, err := p.table.SubmitTransaction(p.ctx, actions, nil)
	p.must(err)
}

func (p *program) receive() {
	_, err := p.queue.DequeueMessage(p.ctx, nil)
	p.must(err)
}

func (p *program) customer() string { return fmt.Sprintf("customer_%05d", p.rand.IntN(50_000)) }

// each calls f with 0 to n-1, a pause apart.
func each(n int, pause time.Duration, f func(i int)) {
	for i := range n {
		f(i)
		time.Sleep(pause)
	}
}

type workload struct {
	name    string
	service service
	run     func(p *program)
}

var planted = []struct {
	workload
	want heat.Kind
}{
	{workload{"events with the minute as partition key, up to 2,500/s", service{}, func(p *program) {
		minute := func(i int) { p.batch(time.Now().UTC().Format("200601021504"), i*100, 100) }
		each(5, time.Minute, minute)
		each(2000, time.Second/25, minute)
	}}, heat.AppendOnly},
	{workload{"newest first by inverted minute, up to 2,500/s", service{}, func(p *program) {
		minute := func(i int) { p.batch(fmt.Sprintf("%012d", 100_000_000_000-time.Now().Unix()/60), i*100, 100) }
		each(5, time.Minute, minute)
		each(2000, time.Second/25, minute)
	}}, heat.PrependOnly},
	{workload{"one partition that is read again and again, 2,500 rows/s", service{rows: 1000}, func(p *program) {
		each(300, 2*time.Second/5, func(i int) { p.query("PartitionKey eq 'all'"); p.insert(p.customer(), "x") })
	}}, heat.HotPartition},
	{workload{"one counter, 250/s, throttled", service{}, func(p *program) {
		each(15_000, time.Second/250, func(i int) {
			p.s.status = 0
			if i%500 == 0 {
				p.s.status = http.StatusServiceUnavailable
			}
			p.upsert("counters", "visits", "1")
		})
	}}, heat.HotRow},
	{workload{"searches without a partition key", service{rows: 3, more: 4}, func(p *program) {
		each(200, time.Second, func(i int) { p.query("Email eq 'a@example.com'"); p.get(p.customer(), "profile") })
	}}, heat.TableScans},
	{workload{"two searches of a large table", service{rows: 3, more: 40}, func(p *program) {
		each(2, time.Minute, func(i int) { p.query("Email eq 'a@example.com'") })
		each(60, time.Second, func(i int) { p.get(p.customer(), "profile") })
	}}, heat.TableScans},
	{workload{"searches of a partition by property", service{rows: 1, more: 4}, func(p *program) {
		each(200, time.Second, func(i int) {
			p.query("PartitionKey eq 'Sales' and Status eq 'open'")
			p.get(p.customer(), "profile")
		})
	}}, heat.PartitionScans},
	{workload{"an import that inserts row by row", service{wait: 10 * time.Millisecond}, func(p *program) {
		for c := range 30 {
			each(100, 0, func(i int) { p.insert(fmt.Sprintf("customer_%03d", (c*17)%30), fmt.Sprintf("%05d", i)) })
		}
	}}, heat.Batchable},
	{workload{"an import that inserts row by row, by two workers", service{wait: 10 * time.Millisecond}, func(p *program) {
		var workers sync.WaitGroup
		for w := range 2 {
			workers.Go(func() {
				each(2000, 0, func(i int) { p.insert(fmt.Sprintf("customer_%03d", 2*(i/100)+w), fmt.Sprintf("%05d", i)) })
			})
		}
		workers.Wait()
	}}, heat.Batchable},
	{workload{"documents in rows over a slow line", service{}, func(p *program) {
		value := strings.Repeat("x", 300<<10)
		each(100, time.Second, func(i int) {
			p.s.status = 0
			if i%5 > 0 {
				p.s.status = http.StatusInternalServerError
			}
			p.upsert(p.customer(), "document", value)
		})
	}}, heat.LargeRetries},
	{workload{"four workers that ask an empty queue every second", service{}, func(p *program) {
		each(1200, time.Second/4, func(int) { p.receive() })
	}}, heat.EmptyPolls},
	{workload{"a client for each request", service{dials: true}, func(p *program) {
		each(3000, 50*time.Millisecond, func(int) { p.get(p.customer(), "profile") })
	}}, heat.Churn},
	{workload{"a client for each of few requests", service{dials: true}, func(p *program) {
		each(50, time.Second, func(int) { p.get(p.customer(), "profile") })
	}}, heat.Churn},
}

var healthy = []workload{
	{"point reads of many customers", service{}, func(p *program) {
		each(5000, 10*time.Millisecond, func(int) { p.get(p.customer(), "profile") })
	}},
	{"writes of many customers", service{}, func(p *program) {
		each(5000, 5*time.Millisecond, func(int) { p.insert(p.customer(), "order") })
	}},
	{"a time-ordered log, one entry per second", service{}, func(p *program) {
		each(1200, time.Second, func(i int) { p.insert(time.Now().UTC().Format("200601021504"), fmt.Sprintf("%05d", i)) })
	}},
	{"events spread over sixteen buckets, 300/s", service{}, func(p *program) {
		each(240, time.Second/3, func(i int) {
			p.batch(fmt.Sprintf("%02d_%s", i%16, time.Now().UTC().Format("200601021504")), i*100, 100)
		})
	}},
	{"a bulk import in transactions", service{wait: 20 * time.Millisecond}, func(p *program) {
		each(100, 100*time.Millisecond, func(i int) { p.batch(p.customer(), i*100, 100) })
	}},
	{"a nightly export", service{rows: 1000, more: 50}, func(p *program) {
		each(2000, 100*time.Millisecond, func(int) { p.get(p.customer(), "profile") })
		p.query("")
	}},
	{"pages of a customer's orders by row key", service{rows: 20}, func(p *program) {
		each(2000, 50*time.Millisecond, func(int) {
			p.query(fmt.Sprintf("PartitionKey eq '%s' and RowKey ge 'order_' and RowKey lt 'order`'", p.customer()))
		})
	}},
	{"small partitions filtered by property", service{rows: 2, wait: 4 * time.Millisecond}, func(p *program) {
		each(2000, 50*time.Millisecond, func(int) {
			p.query(fmt.Sprintf("(PartitionKey eq '%s') and (Status eq 'open')", p.customer()))
		})
	}},
	{"small partitions filtered by property, over a line of 60 ms", service{rows: 2, wait: 60 * time.Millisecond}, func(p *program) {
		each(1000, 50*time.Millisecond, func(int) {
			p.query(fmt.Sprintf("(PartitionKey eq '%s') and (Status eq 'open')", p.customer()))
			p.get(p.customer(), "profile")
		})
	}},
	{"a nightly scan in 48 segments", service{rows: 1000, more: 5}, func(p *program) {
		each(500, 100*time.Millisecond, func(int) { p.get(p.customer(), "profile") })
		each(48, 0, func(i int) { p.query(fmt.Sprintf("PartitionKey ge '%02d' and PartitionKey lt '%02d'", i, i+1)) })
	}},
	{"a chat room, whose messages arrive independently", service{wait: 10 * time.Millisecond}, func(p *program) {
		var messages sync.WaitGroup
		for i := range 5000 {
			messages.Go(func() { p.insert("room 17", fmt.Sprintf("%06d", i)) })
			time.Sleep(time.Duration(p.rand.ExpFloat64() * float64(50*time.Millisecond)))
		}
		messages.Wait()
	}},
	{"a busy queue, and one that is asked every half minute", service{queued: 1}, func(p *program) {
		each(2000, 100*time.Millisecond, func(int) { p.receive() })
		p.s.queued = 0
		each(300, 30*time.Second, func(int) { p.receive() })
	}},
	{"a few retries, small and large", service{}, func(p *program) {
		value := strings.Repeat("x", 300<<10)
		each(300, time.Second, func(i int) {
			p.s.status = 0
			if i%100 == 50 {
				p.s.status = http.StatusServiceUnavailable
			}
			p.upsert(p.customer(), "document", value)
		})
	}},
}

func TestTenPlantedProblemsAreFound(t *testing.T) {
	for _, w := range planted {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := w.service
				p := newProgram(t, &s)
				w.run(p)
				wantFindings(t, p.meter, w.want)
			})
		})
	}
}

func TestTenHealthyWorkloadsHaveNoFinding(t *testing.T) {
	for _, w := range healthy {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := w.service
				p := newProgram(t, &s)
				w.run(p)
				wantFindings(t, p.meter)
			})
		})
	}
}
