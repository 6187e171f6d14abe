package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/log"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
)

// recorder is a transport that accepts every request and records it as text.
type recorder struct {
	mu    sync.Mutex
	sent  []string
	fails int // requests to answer with 503 first
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", req.Method, req.URL)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, req.Header[name])
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		fmt.Fprintf(&b, "%d %d %s", req.ContentLength, len(body), body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, b.String())
	status, contentType, reply := http.StatusNoContent, "application/json", ""
	switch {
	case r.fails > 0:
		r.fails--
		status, reply = http.StatusServiceUnavailable, `{"odata.error":{"code":"ServerBusy"}}`
	case strings.HasSuffix(req.URL.Path, "$batch"):
		status, contentType = http.StatusAccepted, "multipart/mixed; boundary=b"
		reply = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nHTTP/1.1 204 No Content\r\nETag: W/\"1\"\r\n\r\n\r\n--c--\r\n--b--\r\n"
	case req.Method == http.MethodGet:
		status, reply = http.StatusOK, "{}"
	}
	return &http.Response{
		StatusCode: status, Request: req, ContentLength: int64(len(reply)), Body: io.NopCloser(strings.NewReader(reply)),
		Header: http.Header{"Content-Type": {contentType}, "Etag": {`W/"1"`}},
	}, nil
}

// last returns the last request.
func (r *recorder) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[len(r.sent)-1]
}

const (
	testURL = "https://account.table.core.windows.net"
	testKey = "c2VjcmV0"
)

func sharedKey(t testing.TB, url string, opts *aztables.ClientOptions) *aztables.ServiceClient {
	cred := assert.Must(aztables.NewSharedKeyCredential("account", testKey))(t)
	s := assert.Must(aztables.NewServiceClientWithSharedKey(url, cred, opts))(t)
	return s
}

// requests are one request of each kind, for a row with the given keys.
func requests(c *Client, pk, rk string) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"get": func(ctx context.Context) error {
			return c.Get(ctx, pk, rk, func(string, []byte) error { return nil })
		},
		"page": func(ctx context.Context) error {
			_, err := c.Query(ctx, Query{Filter: RowFilter(pk, rk), Select: "PartitionKey,RowKey", Top: 7,
				Next: Position{PartitionKey: "1!8!" + pk, RowKey: rk}}, func([]byte) error { return nil })
			return err
		},
		"whole table": func(ctx context.Context) error {
			_, err := c.Query(ctx, Query{}, func([]byte) error { return nil })
			return err
		},
	}
	for kind := Insert; kind <= Delete; kind++ {
		w := Write{Kind: kind, PartitionKey: pk, RowKey: rk, Body: keysOnly(pk, rk)}
		if kind >= Merge {
			w.ETag = `W/"` + kind.String() + `"`
		}
		all["write "+fmt.Sprint(int(kind))] = func(ctx context.Context) error { _, err := c.Write(ctx, w); return err }
		all["batch "+fmt.Sprint(int(kind))] = func(ctx context.Context) error { _, err := c.Batch(ctx, []*Write{&w}); return err }
	}
	return all
}

// untilKept makes calls until the client has a request of the kind, as a pool may forget it.
func untilKept(t *testing.T, c *Client, kind requestKind, call func(context.Context) error) {
	t.Helper()
	for range 1000 {
		assert.NoError(t, call(t.Context()))
		if k := c.kept[kind].Get(); k != nil {
			c.kept[kind].Put(k)
			return
		}
	}
	t.Fatal("no request was kept")
}

// For the tests with policies of a caller, whose functions must not be in this package.
var (
	Requests  = requests
	NewTester = keeping
)

// kindOf returns the kind of the request with a name of [requests].
func kindOf(name string) requestKind {
	var kind int
	switch {
	case name == "get":
		return getRequest
	case strings.HasPrefix(name, "batch"):
		return batchRequest
	case !strings.HasPrefix(name, "write"):
		return pageRequest
	}
	fmt.Sscanf(name, "write %d", &kind)
	return requestKind(kind)
}

// In a bubble the time does not change, so signatures can be compared.
func TestAKeptRequestIsTheOneThatAztablesMakes(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *aztables.ClientOptions) *aztables.ServiceClient{
		"shared key": func(t *testing.T, o *aztables.ClientOptions) *aztables.ServiceClient {
			return sharedKey(t, testURL, o)
		},
		"emulator": func(t *testing.T, o *aztables.ClientOptions) *aztables.ServiceClient {
			return sharedKey(t, "http://127.0.0.1:10002/account", o)
		},
		"Cosmos": func(t *testing.T, o *aztables.ClientOptions) *aztables.ServiceClient {
			return sharedKey(t, "https://account.table.cosmosdb.azure.com", o)
		},
		"SAS": func(t *testing.T, o *aztables.ClientOptions) *aztables.ServiceClient {
			s := assert.Must(aztables.NewServiceClientWithNoCredential(testURL+"/?sv=2019-02-02&sig=a%2Bb%3D&se=2030-01-01T00%3A00%3A00Z", o))(t)
			return s
		},
		"token": func(t *testing.T, o *aztables.ClientOptions) *aztables.ServiceClient {
			s := assert.Must(aztables.NewServiceClient(testURL, tokens{}, o))(t)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := func() (*recorder, *Client) {
					r, o := &recorder{}, &aztables.ClientOptions{}
					o.Transport = r
					Accelerate(&o.ClientOptions)
					return r, NewClient(open(t, o).NewClient("Table"))
				}
				sent, c := client()
				reference, other := client()
				other.noKept.Store(true)
				for _, row := range [][2]string{{"a", "b"}, {"o'neil", "100% ü"}, {"1+1=2&x", "~(,;:@)"}, {"a", ""}} {
					for what, call := range requests(c, row[0], row[1]) {
						untilKept(t, c, kindOf(what), requests(c, "other", "row")[what])
						assert.NoError(t, call(t.Context()))
						if err := requests(other, "other", "row")["get"](t.Context()); err != nil { // it knows its mode then
							t.Fatal(err)
						}
						assert.NoError(t, requests(other, row[0], row[1])[what](t.Context()))
						assert.Equal(t, sent.last(), reference.last(), what, "of", row, "aztables")
					}
				}
			})
		})
	}
}

type tokens struct{}

func (tokens) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// keeping returns a client and the recorder of its requests.
func keeping(t testing.TB, change func(*aztables.ClientOptions)) (*recorder, *Client) {
	r, o := &recorder{}, &aztables.ClientOptions{}
	o.Transport = r
	o.Retry.RetryDelay = time.Nanosecond
	Accelerate(&o.ClientOptions)
	if change != nil {
		change(o)
	}
	return r, NewClient(sharedKey(t, testURL, o).NewClient("Table"))
}

func TestAKeptRequestIsTriedAgain(t *testing.T) {
	for what := range requests(nil, "", "") {
		r, c := keeping(t, func(o *aztables.ClientOptions) { o.Retry.TryTimeout = time.Minute })
		untilKept(t, c, kindOf(what), requests(c, "p", "r")[what])
		before := len(r.sent)
		r.fails = 2
		assert.Equal(t, requests(c, "p", "r")[what](t.Context()), nil, what)
		tries := r.sent[before:]
		if len(tries) != 3 || tries[0] != tries[2] && !differInDate(tries[0], tries[2]) {
			t.Errorf("%s: %q", what, tries)
		}
	}
}

// differInDate reports whether two requests differ only in their time and signature.
func differInDate(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !strings.HasPrefix(x[i], "X-Ms-Date:") && !strings.HasPrefix(x[i], "Authorization:") {
			return false
		}
	}
	return true
}

func TestAKeptRequestServesTheValuesInItsContext(t *testing.T) {
	for what := range requests(nil, "", "") {
		r, c := keeping(t, nil)
		untilKept(t, c, kindOf(what), requests(c, "p", "r")[what])
		var resp *http.Response
		ctx := policy.WithCaptureResponse(t.Context(), &resp)
		ctx = policy.WithHTTPHeader(ctx, http.Header{"X-Mine": {what}})
		assert.NoError(t, requests(c, "p", "r")[what](ctx))
		if resp == nil || resp.StatusCode/100 != 2 {
			t.Errorf("%s: captured %v", what, resp)
		}
		assert.Contains(t, r.last(), "X-Mine: ["+what+"]", what, "the header is missing")
		if err := requests(c, "p", "r")[what](t.Context()); err != nil || strings.Contains(r.last(), "X-Mine") {
			t.Errorf("%s: the header came again: %v", what, err)
		}
		r.fails = 1
		ctx = policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
		assert.Failed(t, requests(c, "p", "r")[what](ctx), what, "was tried again")
	}
}

// listen passes what azcore logs about requests and replies to the function.
func listen(t *testing.T, line func(string)) {
	log.SetEvents(log.EventRequest, log.EventResponse)
	log.SetListener(func(_ log.Event, text string) { line(text) })
	t.Cleanup(func() { log.SetListener(nil) })
}

func TestEveryCallIsLoggedAsItsFirstTry(t *testing.T) {
	var lines []string
	listen(t, func(line string) { lines = append(lines, line) })
	_, c := keeping(t, nil)
	calls := 0
	for range 3 {
		for _, call := range requests(c, "p", "r") {
			if calls++; call(t.Context()) != nil {
				t.Fatal("a request failed")
			}
		}
	}
	assert.Equal(t, len(lines), 2*calls, "entries for", calls, "calls")
	for _, line := range lines {
		assert.Contains(t, line, "(Try=1")
	}
}

// counted is a provider of spans, of which it counts those that end.
func counted(ended *int) tracing.Provider {
	span := tracing.NewSpan(tracing.SpanImpl{End: func() { *ended++ }})
	return tracing.NewProvider(func(string, string) tracing.Tracer {
		return tracing.NewTracer(func(ctx context.Context, _ string, _ *tracing.SpanOptions) (context.Context, tracing.Span) {
			return ctx, span
		}, nil)
	}, nil)
}

func TestEveryCallHasItsSpan(t *testing.T) {
	spans := 0
	_, c := keeping(t, func(o *aztables.ClientOptions) { o.TracingProvider = counted(&spans) })
	calls := 0
	for range 3 {
		for _, call := range requests(c, "p", "r") {
			if calls++; call(t.Context()) != nil {
				t.Fatal("a request failed")
			}
		}
	}
	if spans != 2*calls { // one of the operation, one of the request
		t.Errorf("%d spans of %d calls", spans, calls)
	}
}

// checking is a transport that accepts what its function accepts.
type checking func(*http.Request) error

func (check checking) Do(req *http.Request) (*http.Response, error) {
	if err := check(req); err != nil {
		return nil, err
	}
	return (&recorder{}).Do(req)
}

func TestConcurrentCallsShareNoRequest(t *testing.T) {
	check := checking(func(req *http.Request) error {
		body, err := io.ReadAll(req.Body)
		if err == nil && !bytes.Contains(body, []byte(`"RowKey":"`+req.Header.Get("X-Row")+`"`)) {
			err = fmt.Errorf("%s with %s", req.Header.Get("X-Row"), body)
		}
		if err == nil && !strings.Contains(req.URL.Path, "RowKey='"+req.Header.Get("X-Row")+"'") {
			err = fmt.Errorf("%s to %s", req.Header.Get("X-Row"), req.URL)
		}
		return err
	})
	_, c := keeping(t, func(o *aztables.ClientOptions) { o.Transport = check })
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				row := fmt.Sprintf("%d-%d", worker, i)
				ctx := policy.WithHTTPHeader(t.Context(), http.Header{"X-Row": {row}})
				w := Write{Kind: InsertOrMerge, PartitionKey: "p", RowKey: row, Body: keysOnly("p", row)}
				assert.Equal(t, assert.ErrorOf(c.Write(ctx, w)), nil)
			}
		})
	}
	wg.Wait()
}

func FuzzKeptAddress(f *testing.F) {
	f.Add("p", "r", "PartitionKey eq 'p'", "next")
	f.Add("it's", "100%/?#\\", "a ge 'ü' and b ne 1", "1!8!cA--")
	f.Fuzz(func(t *testing.T, pk, rk, filter, token string) {
		if pk == "" {
			return // read by a query
		}
		sent, c := keeping(t, nil)
		reference, other := keeping(t, nil)
		other.noKept.Store(true)
		calls := func(c *Client, pk, rk, filter, token string) map[requestKind]func(context.Context) error {
			return map[requestKind]func(context.Context) error{
				getRequest: requests(c, pk, rk)["get"],
				pageRequest: func(ctx context.Context) error {
					_, err := c.Query(ctx, Query{Filter: filter, Next: Position{PartitionKey: token, RowKey: rk}}, func([]byte) error { return nil })
					return err
				},
			}
		}
		for kind, call := range calls(c, pk, rk, filter, token) {
			untilKept(t, c, kind, calls(c, "p", "r", "", "")[kind])
			err := call(t.Context())
			if got, want := calls(other, pk, rk, filter, token)[kind](t.Context()), err; (got == nil) != (want == nil) {
				t.Fatalf("%v, aztables: %v", err, got)
			}
			got, _, _ := strings.Cut(sent.last(), "\n")
			want, _, _ := strings.Cut(reference.last(), "\n")
			if err == nil && got != want {
				t.Errorf("%s\naztables: %s", got, want)
			}
		}
	})
}
