package storagetest

import (
	"errors"
	"net/http"
	"runtime"
	"time"
)

// ErrKilled is the error of every storage call of a scenario of [CrashPoints] after the
// death of its process, and the cause of the end of its context.
var ErrKilled = errors.New("the process was killed by its test")

// killedError is the error of a request that is sent after the death of its process, or
// whose reply is not delivered because of it.
type killedError struct{ op string }

func (e *killedError) Error() string { return e.op + ": " + ErrKilled.Error() }

// Unwrap makes the error match ErrKilled.
func (e *killedError) Unwrap() error { return ErrKilled }

// NonRetriable keeps the SDKs from retrying the request.
func (e *killedError) NonRetriable() {}

// death is what happens to the request at which a process dies.
type death struct {
	when when

	// A late request arrives once that many further requests of any sender were carried out,
	// but not later than within after the death.
	requests int
	within   time.Duration
}

// killing describes when a process dies.
type killing struct {
	at   int // the request, by its number
	how  death
	then func()
	dead bool
	late int // requests since
}

// tooLate is the number of requests that a dead process may send before its goroutines
// are ended: some code retries forever and ignores its context.
const tooLate = 5_000

// Kill simulates that the process that sends the requests dies at the request with the
// number at. how is what happens to that request. No later request is carried out. then is
// called once, when the process dies. A goroutine that sends thousands of requests after that
// is ended by runtime.Goexit.
func (t *transport) Kill(at int, how death, then func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.killing = &killing{at: at, how: how, then: then}
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
func (d *killing) meet(seq int) fate {
	switch {
	case d == nil || seq < d.at:
		return lives
	case d.dead:
		return diesBefore
	case d.how.when == late:
		return diesInFlight
	case d.how.when == after:
		return diesAfter
	}
	return diesBefore
}

// holdFromDeath keeps the request that was in flight when its sender died, unless a rule
// loses or refuses it.
func (t *transport) holdFromDeath(a *attempt, req *http.Request) error {
	if a.effect.outcome == loseRequest || a.effect.outcome == refuse {
		return nil
	}
	t.mu.Lock()
	how := t.killing.how
	t.mu.Unlock()
	return t.network.hold(a, req, how.within, how.requests)
}

// killed returns the error for a request of a dead process. The first call marks the death.
func (t *transport) killed(req *http.Request, q *Request) (*http.Response, error) {
	closeBody(req)
	err := &killedError{q.Op}
	var then func()
	t.mu.Lock()
	q.Err, q.Fault = err, q.Fault+".Killed"
	over := false
	if d := t.killing; d != nil {
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
