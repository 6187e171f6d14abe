package fault

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// Forever is a number of times without end.
const Forever = math.MaxInt

// A Rule says which requests meet with what. It is an immutable value: every
// method returns a changed copy, and one rule may be added to any number of
// transports, each of which counts for itself.
type Rule struct {
	pattern     string
	resource    string
	where       func(Request) bool
	first       int // from this matching request on, 1-based
	times       int // 0: forever
	probability float64
	effect      effect
}

// effect is what happens to a request.
type effect struct {
	outcome    outcome
	status     int
	code       string
	delay      time.Duration
	replyDelay time.Duration
	cut        int64
	page       rest.Page
	empty      bool
	late       bool
	again      bool
	told       bool // there is an effect, if only a delay of 0
}

type outcome uint8

const (
	pass outcome = iota
	loseRequest
	loseReply
	refuse
	repeat
	cutReply
)

// On begins a rule for the operations that pattern names: an [Op], or a
// pattern as of path.Match: "Table.Batch", "Table.*", "*". It panics on a pattern
// that matches no operation: a rule with a slip in its name would never act, and
// the test that counts on it would pass. For the same reason the methods that
// follow panic on a number that makes no sense.
func On(pattern string) Rule {
	mustName("On", pattern)
	return Rule{pattern: pattern, first: 1, probability: 1}
}

// must panics for a rule that was told something without sense.
func (r Rule) must(ok bool, format string, args ...any) {
	if !ok {
		panic("fault: " + r.String() + fmt.Sprintf(format, args...))
	}
}

// Nth lets the rule act on the n-th matching request alone, counting from 1;
// Times makes that n-th the first of several.
func (r Rule) Nth(n int) Rule {
	r.must(n >= 1, ".Nth(%d): the first request is 1", n)
	r.first = n
	if r.times == 0 {
		r.times = 1
	}
	return r
}

// Times lets the rule act on k matching requests, beginning with the first or
// the one that Nth says.
func (r Rule) Times(k int) Rule {
	r.must(k >= 1, ".Times(%d) never acts", k)
	r.times = k
	return r
}

// Resource restricts the rule to one table, queue or container, in any case of
// letters.
func (r Rule) Resource(name string) Rule {
	r.resource = name
	return r
}

// Where restricts the rule to requests for which f is true. f sees what is
// known before the request is carried out, must be quick, and must not use
// the transport.
func (r Rule) Where(f func(Request) bool) Rule {
	r.where = f
	return r
}

// Probability lets the rule act on a matching request with probability p, by
// the seed of the transport. Requests that were spared count for Nth, not for
// Times.
func (r Rule) Probability(p float64) Rule {
	r.must(p >= 0 && p <= 1, ".Probability(%g): it is from 0 to 1", p)
	r.probability = p
	return r
}

// LoseRequest loses the request on its way: it is never carried out, and the
// sender gets a [*LostError].
func (r Rule) LoseRequest() Rule { return r.ends(loseRequest) }

// LoseReply carries the request out and loses the answer: the sender gets a
// [*LostError] and cannot tell this from LoseRequest.
func (r Rule) LoseReply() Rule { return r.ends(loseReply) }

// Status answers with an error in the service's format, without carrying the
// request out: Status(503, "ServerBusy"), Status(500, "InternalError").
func (r Rule) Status(status int, code string) Rule {
	r.must(status >= 300 && status <= 599, ".Status(%d, %q) is no refusal", status, code)
	r.effect.status, r.effect.code = status, code
	return r.ends(refuse)
}

// Twice carries the request out two times, one right after the other, as a
// network that repeats it does. The sender gets the second answer.
func (r Rule) Twice() Rule { return r.ends(repeat) }

// CutReply carries the request out and breaks the answer off after n bytes of
// its body: reading on fails with io.ErrUnexpectedEOF.
func (r Rule) CutReply(n int64) Rule {
	r.effect.cut = max(n, 0)
	return r.ends(cutReply)
}

func (r Rule) ends(o outcome) Rule {
	r.effect.outcome, r.effect.told = o, true
	return r
}

// Delay waits before the request is sent. A context that ends meanwhile ends
// the wait, and the request is not carried out. One that was signed more than 15
// minutes before it arrives is refused, as by the service.
func (r Rule) Delay(d time.Duration) Rule {
	r.effect.delay, r.effect.told = d, true
	return r
}

// DelayReply waits before the answer is given. A context that ends meanwhile
// ends the wait; the request has been carried out.
func (r Rule) DelayReply(d time.Duration) Rule {
	r.effect.replyDelay, r.effect.told = d, true
	return r
}

// ShortPage lets a query of rows or tables answer at most n rows, with a
// token. It works by $top, so on any service. A list of queues, containers or
// blobs is short on the in-process account only.
func (r Rule) ShortPage(n int) Rule {
	r.must(n >= 1, ".ShortPage(%d): a page without rows is EmptyPage", n)
	r.effect.page.Rows, r.effect.told = n, true
	return r
}

// EmptyPage lets a query of rows or tables answer no row and a token that
// leads to the page it would have answered. A request with that token is not
// answered by an empty page again, so that a rule for every query puts one
// before each page. It works on any service; for a list of queues, containers or
// blobs on the in-process account only.
func (r Rule) EmptyPage() Rule {
	r.effect.empty, r.effect.told = true, true
	return r
}

// Late lets a Get or Peek of messages answer none, though there may be some:
// they are delivered later. Nothing becomes invisible.
func (r Rule) Late() Rule {
	r.effect.late, r.effect.told = true, true
	return r
}

// Redeliver lets the messages of a Get be delivered twice: the next Get from
// the same queue answers the very same, pop receipts too.
func (r Rule) Redeliver() Rule {
	r.effect.again, r.effect.told = true, true
	return r
}

// CutPage ends the page of a query after n rows were looked at, as the service
// does after five seconds: the page holds what was found so far, maybe nothing.
// In-process account only.
func (r Rule) CutPage(n int) Rule {
	r.must(n >= 1, ".CutPage(%d) would never get on", n)
	r.effect.page.Scan, r.effect.told = n, true
	return r
}

// BoundaryPage ends the page of a query where a partition ends, with a token.
// In-process account only.
func (r Rule) BoundaryPage() Rule {
	r.effect.page.Boundary, r.effect.told = true, true
	return r
}

// parts is a text of parts, each of which may be left out.
type parts struct{ strings.Builder }

func (p *parts) add(use bool, format string, args ...any) {
	if use {
		fmt.Fprintf(p, format, args...)
	}
}

// String tells the rule as it was written.
func (r Rule) String() string {
	var b parts
	b.add(true, "On(%q)", r.pattern)
	b.add(r.resource != "", ".Resource(%q)", r.resource)
	b.add(r.where != nil, ".Where(func)")
	b.add(r.first > 1 || r.times == 1, ".Nth(%d)", r.first)
	b.add(r.times > 1 && r.times < Forever, ".Times(%d)", r.times)
	b.add(r.times == Forever, ".Times(Forever)")
	b.add(r.probability < 1, ".Probability(%g)", r.probability)
	b.WriteString(r.effect.String())
	return b.String()
}

func (e effect) String() string {
	var b parts
	b.add(e.delay > 0, ".Delay(%v)", e.delay)
	b.add(e.replyDelay > 0, ".DelayReply(%v)", e.replyDelay)
	b.add(e.page.Rows > 0, ".ShortPage(%d)", e.page.Rows)
	b.add(e.page.Scan > 0, ".CutPage(%d)", e.page.Scan)
	b.add(e.page.Boundary, ".BoundaryPage()")
	b.add(e.empty, ".EmptyPage()")
	b.add(e.late, ".Late()")
	b.add(e.again, ".Redeliver()")
	b.add(e.outcome == loseRequest, ".LoseRequest()")
	b.add(e.outcome == loseReply, ".LoseReply()")
	b.add(e.outcome == refuse, ".Status(%d, %q)", e.status, e.code)
	b.add(e.outcome == repeat, ".Twice()")
	b.add(e.outcome == cutReply, ".CutReply(%d)", e.cut)
	return b.String()
}

// matchOp reports whether pattern names the operation.
func matchOp(pattern string, op Op) bool {
	if pattern == "*" || pattern == string(op) {
		return true
	}
	ok, err := path.Match(pattern, string(op))
	return ok && err == nil
}

// mustName panics for a pattern that names no operation.
func mustName(user, pattern string) {
	if !slices.ContainsFunc(ops[:], func(op Op) bool { return matchOp(pattern, op) }) {
		panic(fmt.Sprintf("fault: %s(%q) names no operation; one is %q", user, pattern, TableInsert))
	}
}

// matches reports whether the rule is about this request at all.
func (r *Rule) matches(q *Request) bool {
	if !matchOp(r.pattern, q.Op) {
		return false
	}
	if r.resource != "" && !strings.EqualFold(r.resource, q.Resource) {
		return false
	}
	return r.where == nil || r.where(*q)
}

// counted is a rule in use, with its counts.
type counted struct {
	Rule
	seen, fired int
}

// fires counts a request that matches and reports whether the rule acts on it.
func (c *counted) fires(chance func() float64) bool {
	c.seen++
	if c.seen < c.first || c.times > 0 && c.fired >= c.times {
		return false
	}
	if c.probability < 1 && chance() >= c.probability {
		return false
	}
	c.fired++
	return true
}

// add lays the effect of a further rule over e.
func (e *effect) add(f effect) {
	e.delay += f.delay
	e.replyDelay += f.replyDelay
	e.page = e.page.Or(f.page)
	e.empty = e.empty || f.empty
	e.late = e.late || f.late
	e.again = e.again || f.again
	if e.outcome == pass {
		e.outcome, e.status, e.code, e.cut = f.outcome, f.status, f.code, f.cut
	}
}
