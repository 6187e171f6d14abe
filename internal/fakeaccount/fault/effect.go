package fault

import (
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// effect is what happens to a request.
type effect struct {
	outcome    outcome
	status     int
	code       string
	delay      time.Duration
	replyDelay time.Duration
	cut        int64
	page       request.Page
	empty      bool
	noMessages bool
	redeliver  bool
	lateMin    time.Duration // of lateRequest: when it arrives
	lateMax    time.Duration
	set        bool // there is an effect, if only a delay of 0
}

type outcome uint8

const (
	pass outcome = iota
	loseRequest
	loseReply
	lateRequest
	refuse
	repeat
	cutReply
)

// LoseRequest loses the request before it is carried out. The sender receives an error that
// matches [ErrLost].
func (r Rule) LoseRequest() Rule { return r.ends(loseRequest) }

// LoseReply carries the request out and loses the reply. The sender receives the same error
// as for LoseRequest.
func (r Rule) LoseReply() Rule { return r.ends(loseReply) }

// LateRequest makes the request arrive late: the sender receives the same error as for
// LoseRequest immediately, and the request, with its complete body, is carried out after a
// random delay from min to max, even if the sender was killed or its context has ended. See
// [Transport.Arrive].
func (r Rule) LateRequest(min, max time.Duration) Rule {
	r = r.require(min >= 0 && min <= max, ".LateRequest(%v, %v): the delays are not negative, the smaller is first", min, max)
	r.effect.lateMin, r.effect.lateMax = min, max
	return r.ends(lateRequest)
}

// Status replies with an error in the format of the service, without carrying the
// request out: Status(503, "ServerBusy"), Status(500, "InternalError").
func (r Rule) Status(status int, code string) Rule {
	r = r.require(status >= 300 && status <= 599, ".Status(%d, %q) is not an error", status, code)
	r.effect.status, r.effect.code = status, code
	return r.ends(refuse)
}

// Twice carries the request out two times in succession, as if the network had duplicated
// it. The sender receives the second reply.
func (r Rule) Twice() Rule { return r.ends(repeat) }

// CutReply carries the request out and truncates the body of the reply to n bytes. Reading
// beyond them fails with io.ErrUnexpectedEOF.
func (r Rule) CutReply(n int64) Rule {
	r.effect.cut = max(n, 0)
	return r.ends(cutReply)
}

func (r Rule) ends(o outcome) Rule {
	r.effect.outcome, r.effect.set = o, true
	return r
}

// Delay waits before the request is sent. If the context ends first, the request is not
// carried out. The service refuses a request that arrives more than 15 minutes after it
// was signed.
func (r Rule) Delay(d time.Duration) Rule {
	r.effect.delay, r.effect.set = d, true
	return r
}

// DelayReply waits after the request is carried out, before the reply is delivered, but not
// longer than until the context ends.
func (r Rule) DelayReply(d time.Duration) Rule {
	r.effect.replyDelay, r.effect.set = d, true
	return r
}

// ShortPage limits the page that a query of rows or tables returns to n rows, with a
// token. It uses $top, so it works on any service. Lists of queues, containers and blobs
// are short on the in-process account only.
func (r Rule) ShortPage(n int) Rule {
	r = r.require(n >= 1, ".ShortPage(%d): a page without rows is EmptyPage", n)
	r.effect.page.Rows, r.effect.set = n, true
	return r
}

// EmptyPage makes a query of rows or tables return an empty page, with a token for the page
// that was requested. EmptyPage does not apply to the request with that token, so a rule for
// all queries inserts one empty page before each page. It works on any service; for lists of
// queues, containers and blobs it works on the in-process account only.
func (r Rule) EmptyPage() Rule {
	r.effect.empty, r.effect.set = true, true
	return r
}

// NoMessages makes a Get or Peek of messages return no message, even if messages are visible.
// The messages stay visible.
func (r Rule) NoMessages() Rule {
	r.effect.noMessages, r.effect.set = true, true
	return r
}

// Redeliver delivers the messages of a Get twice: the next Get from the same queue
// returns the same reply, including its pop receipts.
func (r Rule) Redeliver() Rule {
	r.effect.redeliver, r.effect.set = true, true
	return r
}

// CutPage ends the page of a query after n rows were examined, as the service does
// after five seconds: it contains what was found so far, which may be nothing. In-process
// account only.
func (r Rule) CutPage(n int) Rule {
	r = r.require(n >= 1, ".CutPage(%d) would make no progress", n)
	r.effect.page.Scan, r.effect.set = n, true
	return r
}

// BoundaryPage ends the page of a query at the end of a partition, with a token.
// In-process account only.
func (r Rule) BoundaryPage() Rule {
	r.effect.page.Boundary, r.effect.set = true, true
	return r
}

func (e effect) String() string {
	var b text
	b.add(e.delay > 0, ".Delay(%v)", e.delay)
	b.add(e.replyDelay > 0, ".DelayReply(%v)", e.replyDelay)
	b.add(e.page.Rows > 0, ".ShortPage(%d)", e.page.Rows)
	b.add(e.page.Scan > 0, ".CutPage(%d)", e.page.Scan)
	b.add(e.page.Boundary, ".BoundaryPage()")
	b.add(e.empty, ".EmptyPage()")
	b.add(e.noMessages, ".NoMessages()")
	b.add(e.redeliver, ".Redeliver()")
	b.add(e.outcome == loseRequest, ".LoseRequest()")
	b.add(e.outcome == loseReply, ".LoseReply()")
	b.add(e.outcome == lateRequest, ".LateRequest(%v, %v)", e.lateMin, e.lateMax)
	b.add(e.outcome == refuse, ".Status(%d, %q)", e.status, e.code)
	b.add(e.outcome == repeat, ".Twice()")
	b.add(e.outcome == cutReply, ".CutReply(%d)", e.cut)
	return b.String()
}

// add combines e with the effect of a later rule on the same request. Delays add up, and
// the outcome of e takes precedence.
func (e *effect) add(f effect) {
	e.delay += f.delay
	e.replyDelay += f.replyDelay
	e.page = e.page.WithDefaults(f.page)
	e.empty = e.empty || f.empty
	e.noMessages = e.noMessages || f.noMessages
	e.redeliver = e.redeliver || f.redeliver
	if e.outcome == pass {
		e.outcome, e.status, e.code, e.cut = f.outcome, f.status, f.code, f.cut
		e.lateMin, e.lateMax = f.lateMin, f.lateMax
	}
}

// The operations that can have an effect that not all operations can have.
var (
	queries    = []op.Op{op.TableQuery}
	lists      = []op.Op{op.TableQuery, op.TableList, op.QueueList, op.BlobList, op.BlobListContainers}
	reads      = []op.Op{op.QueueGet, op.QueuePeek}
	deliveries = []op.Op{op.QueueGet}
)

// checkEffect returns an error if the rule has an effect that is impossible for all of its
// operations.
func (r Rule) checkEffect() error {
	e := r.effect
	for _, c := range []struct {
		use  bool
		name string
		of   []op.Op
	}{
		{e.page.Rows > 0, "ShortPage", lists},
		{e.page.Scan > 0, "CutPage", lists},
		{e.page.Boundary, "BoundaryPage", queries},
		{e.empty, "EmptyPage", lists},
		{e.noMessages, "NoMessages", reads},
		{e.redeliver, "Redeliver", deliveries},
	} {
		if c.use && !slices.ContainsFunc(c.of, func(o op.Op) bool { return o.Matches(r.pattern) }) {
			return fmt.Errorf("%v: %s is for %v", r, c.name, c.of)
		}
	}
	return nil
}
