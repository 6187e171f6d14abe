package storagetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
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

// LoseRequest loses the request before it is carried out. The sender receives a [*LostError].
func (r Rule) LoseRequest() Rule { return r.ends(loseRequest) }

// LoseReply carries the request out and loses the reply. The sender receives a [*LostError],
// as for LoseRequest.
func (r Rule) LoseReply() Rule { return r.ends(loseReply) }

// LateRequest makes the request arrive late, as an attempt that the client abandoned does.
// The sender immediately receives a [*LostError], as for LoseRequest. The request, with its
// headers and its complete body, is carried out after a delay from min to max, which
// [Options].Seed determines; for a fixed delay, min and max are equal. It arrives even if the
// context of the sender has ended or, in [CrashPoints], its process was killed. A request that
// was signed more than 15 minutes before it arrives is refused, as in the service.
//
// A late request that is due is carried out just before the next request that reaches the
// account, with the time at which it was due, and [Account.Arrive] carries out all of them.
// So without further requests it has no visible effect, and no goroutine waits for it.
//
// The log contains one entry for the attempt. When it has arrived, Sent is true, Status, Code
// and Written describe the reply, which is not delivered, and Fault contains ".Arrived". The
// Fault of the request before which it arrived contains ".After".
func (r Rule) LateRequest(min, max time.Duration) Rule {
	r = r.require(min >= 0 && min <= max, ".LateRequest(%v, %v): the delays are not negative, the smaller is first", min, max)
	r.effect.lateMin, r.effect.lateMax = min, max
	return r.ends(lateRequest)
}

// Status replies with an error of the service, for example Status(503, "ServerBusy"), and
// does not carry the request out. The status is from 300 to 599.
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
// carried out. A request that was signed more than 15 minutes before it arrives is
// refused, as in the service.
func (r Rule) Delay(d time.Duration) Rule {
	r.effect.delay, r.effect.set = d, true
	return r
}

// DelayReply waits after the request is carried out, before the reply is delivered, but
// not longer than until the context ends.
func (r Rule) DelayReply(d time.Duration) Rule {
	r.effect.replyDelay, r.effect.set = d, true
	return r
}

// ShortPage limits the page that a query or a list returns to n results, with a token.
func (r Rule) ShortPage(n int) Rule {
	r = r.require(n >= 1, ".ShortPage(%d): a page without rows is EmptyPage", n)
	r.effect.page.Rows, r.effect.set = n, true
	return r
}

// EmptyPage makes a query or a list return an empty page, with a token for the page that
// was requested. EmptyPage does not apply to the request with that token, so a rule for all
// queries inserts one empty page before each page.
func (r Rule) EmptyPage() Rule {
	r.effect.empty, r.effect.set = true, true
	return r
}

// NoMessages makes a Queue.Get or Queue.Peek return no message, even if messages are
// visible. The messages stay visible.
func (r Rule) NoMessages() Rule {
	r.effect.noMessages, r.effect.set = true, true
	return r
}

// Redeliver delivers the messages of a Queue.Get twice: the next Get from the same queue
// returns the same reply, including its pop receipts.
func (r Rule) Redeliver() Rule {
	r.effect.redeliver, r.effect.set = true, true
	return r
}

// CutPage ends the page of a query or a list after n results were examined, as the service
// does after five seconds. The page contains what was found so far, which may be nothing.
func (r Rule) CutPage(n int) Rule {
	r = r.require(n >= 1, ".CutPage(%d) would make no progress", n)
	r.effect.page.Scan, r.effect.set = n, true
	return r
}

// BoundaryPage ends the page of a Table.Query at the end of a partition, with a token.
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
