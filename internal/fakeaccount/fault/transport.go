package fault

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

	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// Options are the options of [Wrap]. The zero value means the defaults.
type Options struct {
	// Account is the only account that requests are for, if that is known; see
	// [request.Parser].
	Account string

	// Services names the service of a host ("127.0.0.1:34567") whose name does not
	// contain it.
	Services map[string]op.Service

	// Seed determines on which requests rules with a probability act, and random delays. Zero means a random
	// seed, see [Transport.Seed].
	Seed uint64

	// LogLimit is the largest number of requests in the log. The oldest are dropped. Zero
	// means 20,000.
	LogLimit int

	// ClockSkew is how far the clock of the service is ahead of this process, for the error
	// replies of rules.
	ClockSkew time.Duration

	// Lost returns the error that the sender receives if a request or reply was lost. If
	// nil, the error wraps ErrLost and ECONNRESET.
	Lost func(o op.Op) error
}

const defaultLogLimit = 20_000

// Transport sends requests through another transport, applies its rules to them, and
// logs them. It is safe for concurrent use and starts no goroutine. If the inner
// transport blocks only on time, it works inside testing/synctest.
type Transport struct {
	network *network
	opts    Options
	parser  request.Parser

	mu      sync.Mutex
	rules   []*counted
	idle    []Rule // removed before they acted
	chance  *rand.Rand
	random  bool
	seq     int
	log     []*Request
	repeats map[string]*http.Response // by queue: the reply to the next Get
	death   *death
}

var _ policy.Transporter = (*Transport)(nil)

// Wrap returns a transport that sends requests through inner. nil means the zero Options.
// If inner is the [Transport.Inner] of another transport, both share their late requests.
func Wrap(inner policy.Transporter, opts *Options) *Transport {
	t := &Transport{network: networkOf(inner)}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.Seed == 0 {
		t.opts.Seed = rand.Uint64()
	}
	if t.opts.LogLimit <= 0 {
		t.opts.LogLimit = defaultLogLimit
	}
	if t.opts.Lost == nil {
		t.opts.Lost = lost
	}
	t.parser = request.Parser{Account: t.opts.Account, Services: t.opts.Services}
	t.chance = rand.New(rand.NewPCG(t.opts.Seed, 0))
	return t
}

// Inner returns the transport that carries requests out. Requests of a test's setup can use
// it to bypass the rules and the log. Late requests that are due arrive before them.
func (t *Transport) Inner() policy.Transporter { return t.network }

// Seed returns the seed of rules with a probability. If it is set in [Options], the rules
// act on the same requests again.
func (t *Transport) Seed() uint64 { return t.opts.Seed }

// Fault adds rules. They count requests from now on. If a rule can never act, Fault returns
// an error and adds no rule. This is the case if a method was called with an invalid
// argument, if the rule has neither an effect nor a Where, or if its operations cannot have
// its effect, such as an empty page of Table.Insert.
func (t *Transport) Fault(rules ...Rule) error {
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
func (t *Transport) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = t.neverActed()
	t.rules = nil
}

// Idle returns the rules that matched no request, including those that Clear removed, but
// not rules with a probability.
func (t *Transport) Idle() []Rule {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.neverActed()
}

func (t *Transport) neverActed() []Rule {
	idle := slices.Clone(t.idle)
	for _, r := range t.rules {
		if r.acted == 0 && r.probability == 1 && r.effect.set {
			idle = append(idle, r.Rule)
		}
	}
	return idle
}

// Random reports whether a rule with a probability or a random delay is or was in use.
func (t *Transport) Random() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.random
}

// Last returns the number of the last request, 0 before the first. ResetLog does not
// change it.
func (t *Transport) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// Log returns the requests so far, in the order in which they were sent. Beyond the
// limit the oldest are dropped.
func (t *Transport) Log() Log {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := make(Log, len(t.log))
	for i, q := range t.log {
		l[i] = *q
	}
	return l
}

// ResetLog empties the log. The numbers of requests continue.
func (t *Transport) ResetLog() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = nil
}

// Do carries out one request. If its context has already ended, or net/http would refuse to
// send it, it is not carried out, logged or counted.
func (t *Transport) Do(req *http.Request) (*http.Response, error) {
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
		Service: r.Service, Op: r.Op, Start: time.Now(), Secondary: r.Secondary,
		Resource: r.Resource, Name: r.Name, Rows: r.Rows,
		RequestBytes: max(req.ContentLength, 0),
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

// begin logs the request and applies the rules.
func (t *Transport) begin(q *Request) (effect, fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	q.Seq = t.seq
	if len(t.log) >= t.opts.LogLimit {
		// Dropping half of the log is cheap on average.
		t.log = append(t.log[:0], t.log[len(t.log)-t.opts.LogLimit/2:]...)
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
	return e, t.death.meet(q.Seq)
}

// note changes an entry of the log.
func (t *Transport) note(set func()) {
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
