package storagetest

import (
	"fmt"
	"math"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
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
// An invalid argument, such as 0 for Nth, is reported by [Account.Fault]. A Rule is safe
// for concurrent use.
type Rule struct {
	pattern     string
	resource    string
	where       func(Request) bool
	first       int // the first matching request it acts on, from 1
	times       int // 0 means without limit
	probability float64
	effect      effect
	err         error
}

// On returns a rule for the operations that pattern names: the name of an operation, or a
// pattern of path.Match, such as "Table.Batch", "Table.*" or "*". The package
// documentation lists the operations.
func On(pattern string) Rule {
	r := Rule{pattern: pattern, first: 1, probability: 1}
	return r.require(op.Named(pattern), ": no operation has this name; one is %q", op.TableInsert)
}

// require records an error unless ok is true. An invalid rule would never act, and a test
// that relies on it would pass.
func (r Rule) require(ok bool, format string, args ...any) Rule {
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%v"+format, append([]any{r}, args...)...)
	}
	return r
}

// Nth restricts the rule to the n-th matching request, from 1. With Times, that is the
// first of several.
func (r Rule) Nth(n int) Rule {
	r = r.require(n >= 1, ".Nth(%d): the first request is 1", n)
	r.first = n
	if r.times == 0 {
		r.times = 1
	}
	return r
}

// Times restricts the rule to k matching requests, from the first or from the one that
// Nth selects. See [Forever].
func (r Rule) Times(k int) Rule {
	r = r.require(k >= 1, ".Times(%d) never acts", k)
	r.times = k
	return r
}

// Resource restricts the rule to one table, queue or container, in any case.
func (r Rule) Resource(name string) Rule {
	r.resource = name
	return r
}

// Where restricts the rule to requests for which f returns true. f receives what is known
// before the request is carried out, including the Rows of an insert or a batch. The fields
// that describe the reply are zero. f is called with a lock held: it must be fast, and must
// not use the account or its log. A rule with a Where needs no effect.
func (r Rule) Where(f func(Request) bool) Rule {
	r.where = f
	return r
}

// Probability makes the rule act on each matching request with probability p, from 0 to 1.
// [Options].Seed makes the result repeatable. A request on which the rule does not act
// counts for Nth, but not for Times.
func (r Rule) Probability(p float64) Rule {
	r = r.require(p >= 0 && p <= 1, ".Probability(%g): it is from 0 to 1", p)
	r.probability = p
	return r
}

// String returns the Go expression for the rule.
func (r Rule) String() string {
	var b text
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

// text builds a string from optional parts.
type text struct{ strings.Builder }

func (t *text) add(use bool, format string, args ...any) {
	if use {
		fmt.Fprintf(t, format, args...)
	}
}

// check returns an error if the rule is invalid: if a method had an invalid argument, if it
// has no operation or no effect, or if its operations cannot have its effect. A rule with a
// Where needs no effect, because Where may observe requests.
func (r Rule) check() error {
	switch {
	case r.err != nil:
		return r.err
	case r.pattern == "":
		return fmt.Errorf("a rule without an operation: use On")
	case !r.effect.set && r.where == nil:
		return fmt.Errorf("%v has no effect: add .LoseReply() or another", r)
	}
	return r.checkEffect()
}

// matches reports whether the rule applies to this request.
func (r *Rule) matches(q *Request) bool {
	if !op.Op(q.Op).Matches(r.pattern) {
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
	seen, acted int
}

// acts counts a request that matches, and reports whether the rule acts on it.
func (c *counted) acts(chance func() float64) bool {
	c.seen++
	if c.seen < c.first || c.times > 0 && c.acted >= c.times {
		return false
	}
	if c.probability < 1 && chance() >= c.probability {
		return false
	}
	c.acted++
	return true
}

// Fault adds rules. They count requests from now on.
//
// If a rule can never act, Fault returns an error and adds no rule. This is the case if no
// operation has its name, if an argument is invalid, if it has neither an effect nor a
// Where, or if its operations cannot have its effect. On an account of [New] or
// [CrashPoints] the error also fails the test, which could otherwise pass without the fault.
func (a *Account) Fault(rules ...Rule) error {
	err := a.script().Fault(rules...)
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
