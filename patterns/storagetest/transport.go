package storagetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// transportOptions are the options of [wrap].
type transportOptions struct {
	// account is the only account that requests are for, if that is known; see
	// [request.Parser].
	account string

	// services names the service of a host ("127.0.0.1:34567") whose name does not
	// contain it.
	services map[string]string

	seed      uint64        // zero means a random one
	logLimit  int           // zero means defaultLogLimit
	clockSkew time.Duration // of the service, for the error replies of rules
}

const defaultLogLimit = 20_000

// transport sends requests through another transport, applies its rules to them, and
// logs them. It is safe for concurrent use and starts no goroutine. If the inner
// transport blocks only on time, it works inside testing/synctest.
type transport struct {
	network *network
	opts    transportOptions
	parser  request.Parser

	mu      sync.Mutex
	rules   []*counted
	idle    []Rule // removed before they acted
	chance  *rand.Rand
	random  bool
	seq     int
	log     []*Request
	repeats map[string]*http.Response // by queue: the reply to the next Get
	killing *killing

	warnings []string // the first ones, each once
}

// maxWarnings limits the warnings that are printed at the end of a test.
const maxWarnings = 20

// Warnings returns the warnings of the requests so far, each once, and at most maxWarnings.
func (t *transport) Warnings() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.warnings)
}

// warn keeps the warnings of a request.
func (t *transport) warn(q *Request) {
	for _, w := range q.Warnings {
		if len(t.warnings) < maxWarnings && !slices.Contains(t.warnings, w) {
			t.warnings = append(t.warnings, w)
		}
	}
}

var _ policy.Transporter = (*transport)(nil)

// wrap returns a transport that sends requests through inner. If inner is the
// [transport.Inner] of another transport, both share their late requests.
//
// inner can also send to Azurite or to Azure, whose replies do not show what they cost: then
// Inner, Returned, Scanned and Written of a [Request] are 0, CutPage and BoundaryPage have no
// effect, and ShortPage and EmptyPage are for queries of rows and tables only.
func wrap(inner policy.Transporter, o transportOptions) *transport {
	for o.seed == 0 {
		o.seed = rand.Uint64()
	}
	if o.logLimit <= 0 {
		o.logLimit = defaultLogLimit
	}
	services := make(map[string]op.Service, len(o.services))
	for host, service := range o.services {
		services[host] = op.Service(service)
	}
	return &transport{
		network: networkOf(inner), opts: o,
		parser: request.Parser{Account: o.account, Services: services},
		chance: rand.New(rand.NewPCG(o.seed, 0)),
	}
}

// Inner returns the transport that carries requests out. Requests of a test's setup can use
// it to bypass the rules and the log. Late requests that are due arrive before them.
func (t *transport) Inner() policy.Transporter { return t.network }

// Wrap returns an account that sends what its transport receives through inner, where
// services names the service of a host whose name does not contain it. Only its rules and its
// log can be used. This module tests with it on Azurite.
func (t *transport) Wrap(inner policy.Transporter, services map[string]string) *Account {
	a := new(Account)
	a.once.Do(func() { a.faults = wrap(inner, transportOptions{services: services}) })
	return a
}

// Seed returns the seed of rules with a probability.
func (t *transport) Seed() uint64 { return t.opts.seed }

// Fault adds rules, see [Account.Fault].
func (t *transport) Fault(rules ...Rule) error {
	var mistakes []error
	for _, r := range rules {
		mistakes = append(mistakes, r.check())
	}
	if err := errors.Join(mistakes...); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range rules {
		t.rules = append(t.rules, &counted{Rule: r})
		t.random = t.random || r.probability < 1 || r.effect.lateMin < r.effect.lateMax
	}
	return nil
}

// Clear removes all rules.
func (t *transport) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = t.neverActed()
	t.rules = nil
}

// Idle returns the rules that matched no request, including those that Clear removed, but
// not rules with a probability.
func (t *transport) Idle() []Rule {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.neverActed()
}

func (t *transport) neverActed() []Rule {
	idle := slices.Clone(t.idle)
	for _, r := range t.rules {
		if r.acted == 0 && r.probability == 1 && r.effect.set {
			idle = append(idle, r.Rule)
		}
	}
	return idle
}

// Random reports whether a rule with a probability or a random delay is or was in use.
func (t *transport) Random() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.random
}

// Last returns the number of the last request, 0 before the first. ResetLog does not
// change it.
func (t *transport) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// Log returns the requests so far, in the order in which they were sent. Beyond the
// limit the oldest are dropped.
func (t *transport) Log() Log {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := make(Log, len(t.log))
	for i, q := range t.log {
		l[i] = *q
	}
	return l
}

// ResetLog empties the log. The numbers of requests continue.
func (t *transport) ResetLog() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = nil
}

// Do carries out one request. If its context has already ended, or net/http would refuse to
// send it, it is not carried out, logged or counted.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	if err := checkHeader(req.Header); err != nil {
		closeBody(req)
		return nil, err
	}
	r := request.From(req)
	if r == nil {
		r, req = t.parser.Parse(req)
	}
	q := &Request{
		Service: string(r.Service), Op: string(r.Op), Start: time.Now(), Region: Primary,
		Resource: r.Resource, Name: r.Name, Rows: r.Rows,
		RequestBytes: max(req.ContentLength, 0),
	}
	if r.Secondary {
		q.Region = Secondary
	}
	e, fate := t.begin(q)
	if fate == diesBefore {
		return t.killed(req, q)
	}
	a := &attempt{t: t, r: r, q: q, effect: e}
	if fate == diesInFlight {
		if err := t.holdFromDeath(a, req); err != nil {
			return nil, err
		}
		return t.killed(req, q)
	}
	res, err := a.run(req)
	if fate == diesAfter {
		drop(res)
		return t.killed(req, q)
	}
	if res == nil {
		t.note(func() { q.Err = err })
	}
	return res, err
}

// RoundTrip is Do for an http.Client.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) { return t.Do(req) }

// begin logs the request and applies the rules.
func (t *transport) begin(q *Request) (effect, fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	q.Seq = t.seq
	if len(t.log) >= t.opts.logLimit {
		// Dropping half of the log is cheap on average.
		t.log = append(t.log[:0], t.log[len(t.log)-t.opts.logLimit/2:]...)
	}
	t.log = append(t.log, q)

	var e effect
	var acted []string
	for _, r := range t.rules {
		if r.matches(q) && r.acts(t.chance.Float64) {
			e.add(r.effect)
			acted = append(acted, r.effect.String())
		}
	}
	q.Fault = strings.Join(acted, "")
	if spread := e.lateMax - e.lateMin; e.outcome == lateRequest && spread > 0 {
		e.lateMin += time.Duration(t.chance.Int64N(int64(spread) + 1))
	}
	return e, t.killing.meet(q.Seq)
}

// note changes an entry of the log.
func (t *transport) note(set func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set()
}

// wait waits for d, or until ctx ends.
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
