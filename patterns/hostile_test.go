package patterns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// middle is a transport between a client and an account that replaces replies while it is
// hostile.
type middle struct {
	inner    policy.Transporter
	replace  func(n int64, req *http.Request, real *http.Response) *http.Response // nil: not hostile
	requests atomic.Int64
}

func (m *middle) Do(req *http.Request) (*http.Response, error) {
	resp, err := m.inner.Do(req)
	if err != nil || m.replace == nil {
		return resp, err
	}
	return m.replace(m.requests.Add(1), req, resp), nil
}

// attack is what a hostile network replies with.
type attack struct {
	name    string
	replace func(n int64, req *http.Request, real *http.Response) *http.Response

	// always means that no call can succeed.
	always bool
}

func reply(status int, contentType, body string) func(int64, *http.Request, *http.Response) *http.Response {
	return func(_ int64, req *http.Request, _ *http.Response) *http.Response {
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), ProtoMajor: 1, ProtoMinor: 1, Request: req,
			Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}
	}
}

// circle replies with pages without rows whose tokens go in a circle of n.
func circle(n int64) attack {
	return attack{name: fmt.Sprint("a circle of ", n), replace: func(i int64, req *http.Request, real *http.Response) *http.Response {
		if req.Method != http.MethodGet {
			return real
		}
		token := fmt.Sprint("1!", i%n)
		list := "<?xml version=\"1.0\"?><EnumerationResults><Blobs></Blobs><NextMarker>" + token + "</NextMarker></EnumerationResults>"
		if req.URL.Query().Get("comp") == "list" {
			return reply(http.StatusOK, "application/xml", list)(i, req, real)
		}
		resp := reply(http.StatusOK, "application/json", `{"value":[]}`)(i, req, real)
		resp.Header["X-Ms-Continuation-Nextpartitionkey"] = []string{token}
		resp.Header["X-Ms-Continuation-Nextrowkey"] = []string{token}
		resp.Header["X-Ms-Continuation-Nexttablename"] = []string{token}
		return resp
	}}
}

func attacks() []attack {
	page := "<html><body>not here</body></html>"
	list := []attack{circle(1), circle(2), circle(3), {name: "malformed ETags", replace: func(_ int64, req *http.Request, real *http.Response) *http.Response {
		if real.Header.Get("Etag") != "" {
			real.Header.Set("Etag", "0x1")
		}
		return harness.ReplaceBody(real, func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"odata.etag":"`), []byte(`"odata.etag":" `))
		})
	}}, {name: "truncated bodies", replace: func(_ int64, req *http.Request, real *http.Response) *http.Response {
		return harness.ReplaceBody(real, func(b []byte) []byte { return b[:len(b)/2] })
	}}}
	for _, status := range []int{302, 400, 401, 404, 405, 409, 412, 500} {
		list = append(list, attack{fmt.Sprint("status ", status, " without a code"), reply(status, "text/html", page), true})
	}
	list = append(list, attack{"404 without a body", reply(404, "", ""), true})
	for _, body := range []string{page, "null", `{"value":[null]}`, `{"value":[1,"x",{}]}`, `{"value":{}}`, `[[[[`,
		"<EnumerationResults><Blobs><Blob></Blob><Blob><Name/></Blob></Blobs></EnumerationResults>", "<EnumerationResults/>",
		"<QueueMessagesList><QueueMessage></QueueMessage></QueueMessagesList>"} {
		list = append(list, attack{"200 " + body, reply(http.StatusOK, "application/json", body), false})
	}
	huge := reply(http.StatusNotFound, "text/html", page)
	return append(list, attack{"huge headers", func(n int64, req *http.Request, real *http.Response) *http.Response {
		resp := huge(n, req, real)
		resp.Header["X-Huge"] = []string{strings.Repeat("x", 1<<20)}
		return resp
	}, true})
}

type photo struct {
	Album   string `table:"PartitionKey"`
	Name    string `table:"RowKey"`
	Content []byte `table:",blob"`
}

type visit struct {
	Person string `table:"PartitionKey"`
	ID     string `table:"RowKey"`
	At     time.Time
}

// exposed is one exported call.
type exposed struct {
	name  string
	write bool
	call  func(ctx context.Context) error
}

func last[A any](seq func(func(A, error) bool)) (err error) {
	for _, e := range seq {
		err = e
	}
	return err
}

// exposedCalls returns calls of every package that reads replies, all of which send through m.
func exposedCalls(t *testing.T, m *middle, connection, name string, accelerated bool) []exposed {
	t.Helper()
	options := azcore.ClientOptions{Transport: m, Retry: policy.RetryOptions{RetryDelay: time.Microsecond, MaxRetryDelay: time.Microsecond}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	opts := &aztables.ClientOptions{ClientOptions: options}
	if accelerated {
		opts = wire.Accelerate(opts)
	}
	service, err := aztables.NewServiceClientFromConnectionString(connection, opts)
	must(err)
	client := service.NewClient(name)
	jobs, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs", &azqueue.ClientOptions{ClientOptions: options})
	must(err)
	poison, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs-poison", &azqueue.ClientOptions{ClientOptions: options})
	must(err)
	box, err := container.NewClientFromConnectionString(connection, "box", &container.ClientOptions{ClientOptions: options})
	must(err)
	ctx := t.Context()
	for _, create := range []func() error{
		func() error { _, err := jobs.Create(ctx, nil); return err },
		func() error { _, err := poison.Create(ctx, nil); return err },
		func() error { _, err := box.Create(ctx, nil); return err },
	} {
		must(create())
	}
	table := harness.NewTable[counter](t, client, nil)
	stored := harness.Insert(t, table, counter{"hits", "0", 1})
	all := query.PartitionKey.Eq("hits")
	store, err := patterns.NewStore(table, nil)
	must(err)
	large, err := largeentity.New[photo](client, box, nil)
	must(err)
	wide, err := wideentity.New[counter](client, nil)
	must(err)
	days, err := highvolumedelete.New[visit](service, "days", highvolumedelete.Day, nil)
	must(err)
	logs, err := logdata.NewReader(box, "app", nil)
	must(err)
	pq, err := eventual.NewPoisonQueue(jobs, poison, nil)
	must(err)
	fresh := func() *counter { return &counter{"new", time.Now().Format("150405.000000000"), 1} }
	now := time.Now()
	return []exposed{
		{"Get", false, func(ctx context.Context) error { _, err := table.Get(ctx, tally); return err }},
		{"Get in the empty partition", false, func(ctx context.Context) error { _, err := table.Get(ctx, keys.Key{Row: "x"}); return err }},
		{"Query", false, func(ctx context.Context) error { return last(table.Query(ctx, all, nil)) }},
		{"Page", false, func(ctx context.Context) error {
			for cursor := ""; ; {
				page, err := table.Page(ctx, all, cursor, nil)
				if cursor = page.Cursor; err != nil || cursor == "" {
					return err
				}
			}
		}},
		{"Scan", false, func(ctx context.Context) error { return last(table.Scan(ctx, all, "", nil)) }},
		{"Scan in runs", false, func(ctx context.Context) error {
			for cursor := ""; ; {
				var page patterns.ScanPage[counter]
				var err error
				for page, err = range table.Scan(ctx, all, cursor, &patterns.ScanOptions{Parallel: 1}) {
					break
				}
				if cursor = page.Cursor; err != nil || cursor == "" {
					return err
				}
			}
		}},
		{"Insert", true, func(ctx context.Context) error { _, err := table.Insert(ctx, fresh()); return err }},
		{"Upsert", true, func(ctx context.Context) error {
			_, err := table.Upsert(ctx, fresh(), patterns.Replace)
			return err
		}},
		{"Replace", true, func(ctx context.Context) error { _, err := table.Replace(ctx, stored); return err }},
		{"Delete", true, func(ctx context.Context) error {
			return table.Delete(ctx, keys.Key{Partition: "hits", Row: "none"}, "")
		}},
		{"Delete a version", true, func(ctx context.Context) error { return table.Delete(ctx, tally, stored.ETag) }},
		{"Batch", true, func(ctx context.Context) error { _, err := table.Batch().Insert(fresh()).Commit(ctx); return err }},
		{"Store.Get", false, func(ctx context.Context) error { _, err := store.Get(ctx, tally); return err }},
		{"Store.Insert", true, func(ctx context.Context) error { _, err := store.Insert(ctx, fresh()); return err }},
		{"wideentity.Get", false, func(ctx context.Context) error { _, err := wide.Get(ctx, tally); return err }},
		{"wideentity.Insert", true, func(ctx context.Context) error { v := fresh(); _, err := wide.Insert(ctx, v.Key(), v); return err }},
		{"largeentity.Get", false, func(ctx context.Context) error { _, err := large.Get(ctx, tally); return err }},
		{"largeentity.Sweep", false, func(ctx context.Context) error { _, err := large.Sweep(ctx, nil); return err }},
		{"highvolumedelete.List", false, func(ctx context.Context) error { _, err := days.List(ctx, now.AddDate(0, 0, -9), now); return err }},
		{"highvolumedelete.DropBefore", false, func(ctx context.Context) error {
			_, err := days.DropBefore(ctx, now.AddDate(0, 0, -9), nil)
			return err
		}},
		{"logdata.Read", false, func(ctx context.Context) error { return last(logs.Read(ctx, now.Add(-time.Hour), now, nil)) }},
		{"eventual.Enqueue", true, func(ctx context.Context) error { return eventual.Enqueue(ctx, jobs, "k", 1, nil) }},
		{"eventual.SweepClaims", false, func(ctx context.Context) error { _, err := eventual.SweepClaims(ctx, box, nil); return err }},
		{"PoisonQueue.Peek", false, func(ctx context.Context) error { _, err := pq.Peek(ctx, 5); return err }},
		{"PoisonQueue.Take", false, func(ctx context.Context) error { return last(pq.Take(ctx)) }},
		{"eventual.Move", true, func(ctx context.Context) error {
			return eventual.Move(ctx, client, service.NewClient("archive"), eventual.Row{PartitionKey: "hits", RowKey: "0"})
		}},
		{"Create", false, table.Create},
		{"Drop", false, table.Drop},
	}
}

// refusedWithCode reports whether the account itself refused the request.
func refusedWithCode(err error) bool {
	var e *patterns.Error
	return errors.As(err, &e) && e.Code != "" || errors.Is(err, patterns.ErrNotFound)
}

// certain are the sentinels that state what became of a row, a table or a blob.
var certain = []error{patterns.ErrNotFound, patterns.ErrExists, patterns.ErrConflict, patterns.ErrTableNotFound, largeentity.ErrBlobNotFound}

func TestHostileRepliesAreTypedErrors(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		for _, a := range attacks() {
			t.Run(mode+"/"+a.name, func(t *testing.T) {
				acct := storagetest.New(t)
				m := &middle{inner: acct.Transport()}
				if _, err := acct.Tables().CreateTable(t.Context(), "people", nil); err != nil {
					t.Fatal(err)
				}
				for _, e := range exposedCalls(t, m, acct.ConnectionString(), "people", mode == "accelerated") {
					m.replace = a.replace
					m.requests.Store(0)
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					err := e.call(ctx)
					cancel()
					m.replace = nil
					if n := m.requests.Load(); n > 100 {
						t.Errorf("%s: %d requests", e.name, n)
					}
					if err == nil {
						if a.always {
							t.Errorf("%s succeeds", e.name)
						}
						continue
					}
					var property *patterns.PropertyError
					bad, unknown := errors.Is(err, patterns.ErrBadReply), errors.Is(err, patterns.ErrOutcomeUnknown)
					if a.always && e.write && !unknown && e.name != "eventual.Move" || !bad && !unknown && !errors.As(err, &property) && !errors.Is(err, largeentity.ErrCorrupt) &&
						(a.always || !refusedWithCode(err)) {
						t.Errorf("%s: %v", e.name, err)
					}
					for _, c := range certain {
						if a.always && errors.Is(err, c) {
							t.Errorf("%s: %v is certain: %v", e.name, c, err)
						}
					}
				}
			})
		}
	}
}
