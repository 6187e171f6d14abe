package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// Options of a Transport. The zero value is fine.
type Options struct {
	// Services names the service behind a host ("127.0.0.1:34567") that does
	// not tell it by itself.
	Services map[string]Service

	// Seed decides what Probability decides. 0: chosen at random, see
	// [Transport.Seed].
	Seed uint64

	// LogLimit is how many requests the log keeps, the newest. 0: 20,000.
	LogLimit int
}

const defaultLogLimit = 20_000

// Transport carries requests out through another transport, does to them what
// its rules say, and logs them. It is safe for concurrent use and starts no
// goroutine; with an inner transport that blocks only on time it works inside
// testing/synctest.
type Transport struct {
	inner policy.Transporter
	opts  Options

	mu     sync.Mutex
	rules  []*counted
	idle   []Rule // cleared before they acted
	chance *rand.Rand
	random bool
	seq    int
	log    []*Request
	kept   map[string]*http.Response // by queue: the Get that is to be answered again
	death  *death
}

var _ policy.Transporter = (*Transport)(nil)

// Wrap returns a transport around inner. Nil options are the zero options.
func Wrap(inner policy.Transporter, opts *Options) *Transport {
	t := &Transport{inner: inner}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.Seed == 0 {
		t.opts.Seed = rand.Uint64()
	}
	if t.opts.LogLimit <= 0 {
		t.opts.LogLimit = defaultLogLimit
	}
	t.chance = rand.New(rand.NewPCG(t.opts.Seed, 0))
	return t
}

// Seed is the seed of all that Probability decides; print it where a test
// fails, and give it to Options to see the same again.
func (t *Transport) Seed() uint64 { return t.opts.Seed }

// Fault adds rules. They count from now on. It panics on a rule that can never
// act: one that does not say what happens, unless it has a Where, which may be
// there to watch, and one whose operations know nothing of what is to happen, such
// as an empty page of Table.Insert.
func (t *Transport) Fault(rules ...Rule) {
	for _, r := range rules {
		mustName("On", r.pattern) // the zero Rule has none
		if !r.effect.told && r.where == nil {
			panic("fault: " + r.String() + " does not say what happens: add .LoseReply() or another")
		}
		if name, of := r.misplaced(); name != "" {
			panic(fmt.Sprintf("fault: %v: %s is for %v", r, name, of))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range rules {
		t.rules = append(t.rules, &counted{Rule: r})
		t.random = t.random || r.probability < 1
	}
}

// Clear removes every rule.
func (t *Transport) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = t.neverActed()
	t.rules = nil
}

// Idle returns the rules that have never acted though chance did not spare them, those
// that Clear removed included: there was no request for them.
func (t *Transport) Idle() []Rule {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.neverActed()
}

func (t *Transport) neverActed() []Rule {
	idle := slices.Clone(t.idle)
	for _, r := range t.rules {
		if r.fired == 0 && r.probability == 1 && r.effect.told {
			idle = append(idle, r.Rule)
		}
	}
	return idle
}

// Last is the number of the last request, 0 before the first. ResetLog does not
// change it.
func (t *Transport) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// Log returns the requests so far, in the order in which they were sent; the
// oldest are gone where there were more than the limit.
func (t *Transport) Log() Log {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := make(Log, len(t.log))
	for i, q := range t.log {
		l[i] = *q
	}
	return l
}

// ResetLog empties the log. Numbers go on.
func (t *Transport) ResetLog() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = nil
}

// Do carries out one request. A context that has ended already ends it before
// it is carried out, logged or counted.
func (t *Transport) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	q := &Request{Start: time.Now(), RequestBytes: max(req.ContentLength, 0)}
	t.classify(q, req)
	req = q.peek(req, t.choosy())
	e, fate := t.begin(q)
	if fate == diesBefore {
		return t.killed(req, q)
	}
	res, err := t.run(req, q, e)
	if fate == diesAfter {
		drop(res)
		return t.killed(req, q)
	}
	if res == nil {
		t.note(func() { q.Err = err })
	}
	return res, err
}

// choosy reports whether a rule wants to see the rows that a request addresses.
func (t *Transport) choosy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.rules, func(r *counted) bool { return r.where != nil })
}

// begin logs the request and asks the rules.
func (t *Transport) begin(q *Request) (effect, fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	q.Seq = t.seq
	if len(t.log) >= t.opts.LogLimit {
		// Drop a half at once: cheap on average, and never less than half the limit kept.
		t.log = append(t.log[:0], t.log[len(t.log)-t.opts.LogLimit/2:]...)
	}
	t.log = append(t.log, q)

	var e effect
	var acted []string
	for _, r := range t.rules {
		if r.matches(q) && r.fires(t.chance.Float64) {
			e.add(r.effect)
			acted = append(acted, r.effect.String())
		}
	}
	q.Fault = strings.Join(acted, "")
	return e, t.death.meet(q.Seq)
}

// note changes what the log holds.
func (t *Transport) note(set func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set()
}

func (t *Transport) run(req *http.Request, q *Request, e effect) (*http.Response, error) {
	if err := wait(req.Context(), e.delay); err != nil {
		closeBody(req)
		return nil, err
	}
	switch e.outcome {
	case loseRequest:
		Announce(req)
		closeBody(req)
		return nil, &LostError{q.Op}
	case refuse:
		Announce(req)
		AnnounceReply(req)
		return t.refuse(req, q, e), nil
	}
	res, err := t.send(req, q, e)
	if err != nil {
		return nil, err
	}
	if err := wait(req.Context(), e.replyDelay); err != nil {
		drop(res)
		return nil, err
	}
	switch e.outcome {
	case loseReply:
		drop(res)
		return nil, &LostError{q.Op}
	case cutReply:
		res.Body = &cutBody{body: res.Body, left: e.cut}
	}
	return res, nil
}

// send carries the request out, once or twice.
func (t *Transport) send(req *http.Request, q *Request, e effect) (*http.Response, error) {
	outer := rest.CallFrom(req.Context())
	call := newCall(q, e, outer)
	out := req.WithContext(rest.WithCall(req.Context(), call))
	if res := t.shape(out, q, e); res != nil {
		Announce(req)
		AnnounceReply(req)
		closeBody(req)
		res.Request = req
		t.note(func() { q.Status, q.ReplyBytes = res.StatusCode, res.ContentLength })
		return res, nil
	}
	if e.outcome == repeat {
		again, err := rewindable(out)
		if err != nil {
			return nil, err
		}
		t.note(func() { q.Sent = true })
		if first, err := t.inner.Do(out); err == nil {
			drop(first)
		}
		*call = *newCall(q, e, outer)
		out = again
	}
	t.note(func() { q.Sent = true })
	res, err := t.inner.Do(out)
	if err != nil {
		return nil, err
	}
	res.Request = req
	t.note(func() { q.take(call, res) })
	outer.Report(call)
	if e.again && q.Op == QueueGet && res.StatusCode == http.StatusOK {
		if err := t.keep(q.Resource, res); err != nil {
			return nil, err
		}
	}
	if res.ContentLength < 0 && res.Body != nil {
		res.Body = &countedBody{ReadCloser: res.Body, t: t, q: q}
	}
	return res, nil
}

// newCall is what goes beside a request. Where transports are stacked, the
// pages of the outer one are kept.
func newCall(q *Request, e effect, outer *rest.Call) *rest.Call {
	page := e.page.Or(outer.Shape())
	page.Empty = page.Empty || e.empty // of a list; a query is answered by shape
	return &rest.Call{Service: string(q.Service), Op: string(q.Op), Resource: q.Resource, Name: q.Name, Page: page}
}

// take notes what the answer and the service tell about the request.
func (q *Request) take(call *rest.Call, res *http.Response) {
	q.Status = res.StatusCode
	q.ReplyBytes = max(res.ContentLength, 0)
	q.Returned, q.Scanned, q.Written = call.Returned, call.Scanned, call.Written
	if len(call.Rows) > 0 {
		q.Rows = call.Rows
	}
	if call.Table != "" {
		q.Resource = call.Table
	}
	q.Code = call.Code
	if q.Code == "" {
		q.Code = res.Header.Get("X-Ms-Error-Code")
	}
	if call.Status != 0 && call.Status != res.StatusCode {
		q.Inner = call.Status
	}
}

// wait waits for d of the clock, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Random reports whether a rule with a probability is or was in use.
func (t *Transport) Random() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.random
}
