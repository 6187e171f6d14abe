package fault

import (
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
)

// ErrKilled matches the error of every request of a process that was killed.
var ErrKilled = errors.New("the process was killed by its test")

// killedError is the error of a request that is sent after the death of its process, or
// whose reply is not delivered because of it.
type killedError struct{ op op.Op }

func (e *killedError) Error() string { return string(e.op) + ": " + ErrKilled.Error() }

// Unwrap makes the error match ErrKilled.
func (e *killedError) Unwrap() error { return ErrKilled }

// NonRetriable keeps the SDKs from retrying the request.
func (e *killedError) NonRetriable() {}

// Death is what happens to the request at which a process dies.
type Death struct {
	after    bool
	late     bool
	requests int
	within   time.Duration
}

var (
	// Before means that the request is not carried out.
	Before = Death{}
	// After means that the request is carried out, and the reply is not delivered.
	After = Death{after: true}
)

// Late means that the request arrives later: once that many further requests of any sender
// were carried out, but not later than within after the death.
func Late(requests int, within time.Duration) Death {
	return Death{late: true, requests: requests, within: within}
}

// death describes when a process dies.
type death struct {
	at   int // the request, by its number
	how  Death
	then func()
	dead bool
	late int // requests since
}

// tooLate is the number of requests that a dead process may send before its goroutines
// are ended: some code retries forever and ignores its context.
const tooLate = 5_000

// Kill simulates that the process that sends the requests dies at the request with the
// number at. how is what happens to that request. No later request is carried out. then is called once, when the process dies. A goroutine that sends
// thousands of requests after that is ended by runtime.Goexit.
func (t *Transport) Kill(at int, how Death, then func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.death = &death{at: at, how: how, then: then}
}

// fate is what happens to a request when its sender dies.
type fate uint8

const (
	lives        fate = iota
	diesBefore        // it is not carried out
	diesAfter         // it is carried out, and the reply is not delivered
	diesInFlight      // it arrives later
)

// meet returns the fate of a request. The caller holds the lock.
func (d *death) meet(seq int) fate {
	switch {
	case d == nil || seq < d.at:
		return lives
	case d.dead:
		return diesBefore
	case d.how.late:
		return diesInFlight
	case d.how.after:
		return diesAfter
	}
	return diesBefore
}

// holdFromDeath keeps the request that was in flight when its sender died, unless a rule
// loses or refuses it.
func (t *Transport) holdFromDeath(a *attempt, req *http.Request) error {
	if a.effect.outcome == loseRequest || a.effect.outcome == refuse {
		return nil
	}
	t.mu.Lock()
	how := t.death.how
	t.mu.Unlock()
	return t.network.hold(a, req, how.within, how.requests)
}

// killed returns the error for a request of a dead process. The first call marks the death.
func (t *Transport) killed(req *http.Request, q *Request) (*http.Response, error) {
	closeBody(req)
	err := &killedError{q.Op}
	var then func()
	t.mu.Lock()
	q.Err, q.Fault = err, q.Fault+".Killed"
	over := false
	if d := t.death; d != nil {
		if !d.dead {
			d.dead, then = true, d.then
		}
		d.late++
		over = d.late > tooLate
	}
	t.mu.Unlock()
	if then != nil {
		then()
	}
	if over {
		runtime.Goexit()
	}
	return nil, err
}
