package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Fate is what happens to one request of a [Process]. The zero Fate delivers the request and
// its reply immediately.
type Fate struct {
	Before time.Duration // until the request arrives
	After  time.Duration // until the process receives the reply
	Late   time.Duration // with ArrivesLate: how much later it arrives
	Dies   bool          // the process does not receive the reply, and sends nothing afterwards
	What   Delivery
}

// Delivery is what becomes of a request.
type Delivery uint8

// The kinds of delivery. After all but Delivered and Twice the process receives an error.
const (
	Delivered   Delivery = iota
	RequestLost          // it is not carried out
	ReplyLost            // it is carried out
	ArrivesLate          // it is carried out after the process has received the error
	Twice                // it is carried out two times in succession; the first reply is delivered
	Busy                 // status 503; it is not carried out
	Failed               // status 500; it is carried out all the same
	Denied               // status 403; it is not carried out
)

// The errors of requests without a reply.
var (
	ErrLost = errors.New("connection lost")
	// ErrDead is the error of every request of a dead process.
	ErrDead error = dead{}
)

type dead struct{}

func (dead) Error() string { return "the process is dead" }
func (dead) NonRetriable() {}

// Process is the transport of one client program, which a test can kill. Decide, if set,
// decides the fate of each request by its method and path.
type Process struct {
	Inner  policy.Transporter
	Decide func(method, path string) Fate
	Skew   time.Duration               // how far its clock is ahead of the service's
	Late   *sync.WaitGroup             // of the requests that are still to arrive; needed for ArrivesLate
	Log    func(string)                // if set, is called for each request that has ended
	Attach func(*azcore.ClientOptions) // if set, extends the options of every client

	dead atomic.Bool
}

// Kill ends the process: none of its later requests is sent.
func (p *Process) Kill() { p.dead.Store(true) }

// Dead reports whether the process was killed.
func (p *Process) Dead() bool { return p.dead.Load() }

// Step carries out one request with the fate that Decide decides. do sends the request, and
// stores the reply if answered is true. refuse is called instead of it, or after it, if the
// service refuses the request with a status.
func (p *Process) Step(ctx context.Context, method, path string, do func(answered bool) error, refuse func(status int) error) error {
	if p.Dead() {
		return ErrDead
	}
	var f Fate
	if p.Decide != nil {
		f = p.Decide(method, path)
	}
	if f.Dies {
		p.Kill()
	}
	time.Sleep(f.Before)
	err := ErrLost
	switch f.What {
	case Delivered:
		err = do(true)
	case ReplyLost:
		_ = do(false)
	case ArrivesLate:
		p.Late.Go(func() { time.Sleep(f.Late); _ = do(false) })
	case Twice:
		err = do(true)
		_ = do(false)
	case Busy:
		err = refuse(http.StatusServiceUnavailable)
	case Failed:
		_ = do(false)
		err = refuse(http.StatusInternalServerError)
	case Denied:
		err = refuse(http.StatusForbidden)
	}
	time.Sleep(f.After)
	if n, ok := ctx.Value(unansweredKey{}).(*atomic.Int32); ok && (f.What != Delivered || ctx.Err() != nil) && method != http.MethodGet {
		n.Add(1)
	}
	if f.Dies || p.Dead() {
		err = ErrDead
	}
	if p.Log != nil {
		p.Log(fmt.Sprintf("%s %s %+v: %v", method, path, f, err))
	}
	return err
}

// Do sends a request.
func (p *Process) Do(req *http.Request) (res *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	err = p.Step(req.Context(), req.Method, req.URL.Path, func(answered bool) error {
		out := req.Clone(context.Background()) // the context may have ended when the request arrives
		out.Body = http.NoBody                 // with another empty body the length would be unknown
		if len(body) > 0 {
			out.Body = io.NopCloser(bytes.NewReader(body))
		}
		reply, err := p.Inner.Do(out)
		if answered {
			res = reply
		}
		return err
	}, func(status int) error {
		res = refusal(req, status)
		return nil
	})
	calls.TraceRequest(req)
	if err != nil {
		return nil, err
	}
	calls.TraceReply(req)
	p.shift(res)
	return res, nil
}

// refusal is the reply of a service that is overloaded or does not permit the request.
func refusal(req *http.Request, status int) *http.Response {
	code := map[int]string{
		http.StatusServiceUnavailable: "ServerBusy", http.StatusInternalServerError: "InternalError", http.StatusForbidden: "AuthorizationFailure",
	}[status]
	body := `{"odata.error":{"code":"` + code + `","message":{"lang":"en-US","value":"A fault of the test."}}}`
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}, "X-Ms-Error-Code": {code}},
		Body:   io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
	}
}

// shift changes the times in a reply to those of a service whose clock is behind that of the
// process by Skew: the headers Date and Last-Modified, and the times in the body of a row, a
// page of rows, or a list of blobs.
func (p *Process) shift(res *http.Response) {
	if p.Skew == 0 {
		return
	}
	for _, name := range []string{"Date", "Last-Modified"} {
		if at, err := http.ParseTime(res.Header.Get(name)); err == nil {
			res.Header.Set(name, at.Add(-p.Skew).UTC().Format(http.TimeFormat))
		}
	}
	switch kind := res.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/json"):
		ReplaceBody(res, func(body []byte) []byte {
			return p.shiftTimes(body, `"Timestamp":"`, `"`, "2006-01-02T15:04:05.9999999Z")
		})
	case strings.HasPrefix(kind, "application/xml"):
		ReplaceBody(res, func(body []byte) []byte {
			return p.shiftTimes(body, "<Last-Modified>", "<", http.TimeFormat)
		})
	}
}

// shiftTimes shifts the times in body between the texts before and after.
func (p *Process) shiftTimes(body []byte, before, after, layout string) []byte {
	parts := bytes.Split(body, []byte(before))
	for i, part := range parts[1:] {
		text, rest, _ := bytes.Cut(part, []byte(after))
		if at, err := time.Parse(layout, string(text)); err == nil {
			parts[i+1] = append([]byte(at.Add(-p.Skew).Format(layout)+after), rest...)
		}
	}
	return bytes.Join(parts, []byte(before))
}

// Tables returns a client of the account that sends through p and retries up to the given
// number of times, immediately.
func (p *Process) Tables(accelerated bool, retries int32) (*aztables.ServiceClient, error) {
	opts := &aztables.ClientOptions{ClientOptions: p.options(retries)}
	if accelerated {
		wire.Accelerate(&opts.ClientOptions)
	}
	cred, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		return nil, err
	}
	return aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, opts)
}

// Container returns a client of a blob container that sends and retries as those of Tables.
func (p *Process) Container(name string, retries int32) (*container.Client, error) {
	cred, err := azblob.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		return nil, err
	}
	return container.NewClientWithSharedKeyCredential(storagetest.BlobsURL+"/"+name, cred, &container.ClientOptions{ClientOptions: p.options(retries)})
}

// Queue returns a client of a queue that sends and retries as those of Tables.
func (p *Process) Queue(name string, retries int32) (*azqueue.QueueClient, error) {
	cred, err := azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		return nil, err
	}
	return azqueue.NewQueueClientWithSharedKeyCredential(storagetest.QueuesURL+"/"+name, cred, &azqueue.ClientOptions{ClientOptions: p.options(retries)})
}

func (p *Process) options(retries int32) azcore.ClientOptions {
	o := azcore.ClientOptions{
		Transport: p, Retry: policy.RetryOptions{MaxRetries: retries, RetryDelay: time.Microsecond, MaxRetryDelay: time.Millisecond},
	}
	if p.Attach != nil {
		p.Attach(&o)
	}
	return o
}
