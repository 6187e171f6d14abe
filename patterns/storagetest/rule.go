package storagetest

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
)

// Forever is an argument of [Rule.Times] that means without limit.
const Forever = math.MaxInt

// Rule selects requests and describes what happens to them. Create it with [On], and add it
// with [Account.Fault]. It is an immutable value: every method returns a changed copy.
//
// A rule may have several effects. LoseRequest, LoseReply, LateRequest, Status, Twice and
// CutReply replace one another. If several rules act on one request, their delays add up, and
// of those six effects the one of the rule that was added first applies.
//
// An invalid argument, such as 0 for Nth, is reported by [Account.Fault].
type Rule struct{ rule fault.Rule }

// On returns a rule for the operations that pattern names: the name of an operation, or a
// pattern of path.Match, such as "Table.Batch", "Table.*" or "*". The package
// documentation lists the operations.
func On(pattern string) Rule { return Rule{fault.On(pattern)} }

// Nth restricts the rule to the n-th matching request, from 1. With Times, that is the
// first of several.
func (r Rule) Nth(n int) Rule { return Rule{r.rule.Nth(n)} }

// Times restricts the rule to k matching requests, from the first or from the one that
// Nth selects. See [Forever].
func (r Rule) Times(k int) Rule { return Rule{r.rule.Times(k)} }

// Resource restricts the rule to one table, queue or container, in any case.
func (r Rule) Resource(name string) Rule { return Rule{r.rule.Resource(name)} }

// Where restricts the rule to requests for which f returns true. f receives what is known
// before the request is carried out, including the Rows of an insert or a batch. The fields
// that describe the reply are zero. f is called with a lock held: it must be fast, and must
// not use the account or its log. A rule with a Where needs no effect.
func (r Rule) Where(f func(Request) bool) Rule {
	if f == nil {
		return Rule{r.rule.Where(nil)}
	}
	return Rule{r.rule.Where(func(q fault.Request) bool { return f(logged(q)) })}
}

// Probability makes the rule act on each matching request with probability p, from 0 to 1.
// [Options].Seed makes the result repeatable. A request on which the rule does not act
// counts for Nth, but not for Times.
func (r Rule) Probability(p float64) Rule { return Rule{r.rule.Probability(p)} }

// LoseRequest loses the request before it is carried out. The sender receives a [*LostError].
func (r Rule) LoseRequest() Rule { return Rule{r.rule.LoseRequest()} }

// LoseReply carries the request out and loses the reply. The sender receives a [*LostError],
// as for LoseRequest.
func (r Rule) LoseReply() Rule { return Rule{r.rule.LoseReply()} }

// LateRequest makes the request arrive late, as an attempt does that the client gave up on.
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
func (r Rule) LateRequest(min, max time.Duration) Rule { return Rule{r.rule.LateRequest(min, max)} }

// Status replies with an error of the service, for example Status(503, "ServerBusy"), and
// does not carry the request out. The status is from 300 to 599.
func (r Rule) Status(status int, code string) Rule { return Rule{r.rule.Status(status, code)} }

// Twice carries the request out two times in succession, as if the network had duplicated
// it. The sender receives the second reply.
func (r Rule) Twice() Rule { return Rule{r.rule.Twice()} }

// CutReply carries the request out and truncates the body of the reply to n bytes. Reading
// beyond them fails with io.ErrUnexpectedEOF.
func (r Rule) CutReply(n int64) Rule { return Rule{r.rule.CutReply(n)} }

// Delay waits before the request is sent. If the context ends first, the request is not
// carried out. A request that was signed more than 15 minutes before it arrives is
// refused, as in the service.
func (r Rule) Delay(d time.Duration) Rule { return Rule{r.rule.Delay(d)} }

// DelayReply waits after the request is carried out, before the reply is delivered, but
// not longer than until the context ends.
func (r Rule) DelayReply(d time.Duration) Rule { return Rule{r.rule.DelayReply(d)} }

// ShortPage limits the page that a query or a list returns to n results, with a token.
func (r Rule) ShortPage(n int) Rule { return Rule{r.rule.ShortPage(n)} }

// EmptyPage makes a query or a list return an empty page, with a token for the page that
// was requested. EmptyPage does not apply to the request with that token, so a rule for all
// queries inserts one empty page before each page.
func (r Rule) EmptyPage() Rule { return Rule{r.rule.EmptyPage()} }

// CutPage ends the page of a query or a list after n results were examined, as the service
// does after five seconds. The page contains what was found so far, which may be nothing.
func (r Rule) CutPage(n int) Rule { return Rule{r.rule.CutPage(n)} }

// BoundaryPage ends the page of a Table.Query at the end of a partition, with a token.
func (r Rule) BoundaryPage() Rule { return Rule{r.rule.BoundaryPage()} }

// NoMessages makes a Queue.Get or Queue.Peek return no message, even if messages are
// visible. The messages stay visible.
func (r Rule) NoMessages() Rule { return Rule{r.rule.NoMessages()} }

// Redeliver delivers the messages of a Queue.Get twice: the next Get from the same queue
// returns the same reply, including its pop receipts.
func (r Rule) Redeliver() Rule { return Rule{r.rule.Redeliver()} }

// String returns the Go expression for the rule.
func (r Rule) String() string { return r.rule.String() }

// Fault adds rules. They count requests from now on.
//
// If a rule can never act, Fault returns an error and adds no rule. This is the case if no
// operation has its name, if an argument is invalid, if it has neither an effect nor a
// Where, or if its operations cannot have its effect. On an account of [New] or
// [CrashPoints] the error also fails the test, which could otherwise pass without the fault.
func (a *Account) Fault(rules ...Rule) error {
	scripted := make([]fault.Rule, len(rules))
	for i, r := range rules {
		scripted[i] = r.rule
	}
	err := a.script().Fault(scripted...)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("storagetest: %w", err)
	if a.t != nil {
		a.t.Helper()
		a.t.Errorf("%v", err)
	}
	return err
}

// ClearFaults removes all rules. Late requests still arrive.
func (a *Account) ClearFaults() { a.script().Clear() }

// Arrive carries out every late request that is pending, due or not, in the order in which
// they are due, and returns how many these were. See [Rule.LateRequest].
func (a *Account) Arrive() int { return a.script().Arrive() }

// LostError is the error that the sender of a request receives if the request or its reply
// was lost. It matches syscall.ECONNRESET, like the error of a broken connection, and does
// not show whether the request was carried out. The SDK retries the request.
type LostError struct {
	Op string // the operation, such as "Table.Insert"
}

func (e *LostError) Error() string { return e.Op + ": " + fault.ErrLost.Error() }

// Unwrap returns an error that matches syscall.ECONNRESET.
func (e *LostError) Unwrap() error { return errors.Join(fault.ErrLost, syscall.ECONNRESET) }

func lost(o op.Op) error { return &LostError{string(o)} }
