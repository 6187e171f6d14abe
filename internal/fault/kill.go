package fault

import (
	"errors"
	"net/http"
	"runtime"
)

// ErrKilled is matched by the error of every request of a process that is
// taken for dead.
var ErrKilled = errors.New("the process was killed by its test")

// KilledError is what a request gets that comes when the process is dead
// already, or whose answer it does not live to see. No SDK retries it.
type KilledError struct{ Op Op }

func (e *KilledError) Error() string { return string(e.Op) + ": " + ErrKilled.Error() }

// Unwrap makes the error match ErrKilled.
func (e *KilledError) Unwrap() error { return ErrKilled }

// NonRetriable tells azcore that trying again is of no use.
func (e *KilledError) NonRetriable() {}

// death says when a process dies.
type death struct {
	at    int  // the request, by its number
	after bool // once it was carried out
	then  func()
	dead  bool
	late  int // requests since
}

// tooLate is how many requests a dead process may send before its goroutines are
// ended: there is code that tries for ever, and takes no notice of its context.
const tooLate = 5_000

// Kill lets the sender of all requests die at a request, by its number: just
// before it is carried out, or just after. From then on no request is carried
// out, until Revive. then is called once at that moment. A goroutine that sends
// thousands of requests after that is ended by runtime.Goexit.
func (t *Transport) Kill(at int, after bool, then func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.death = &death{at: at, after: after, then: then}
}

// Revive ends what Kill began, and reports whether the sender had died.
func (t *Transport) Revive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	died := t.death != nil && t.death.dead
	t.death = nil
	return died
}

// fate is what becomes of a request.
type fate uint8

const (
	lives      fate = iota
	diesBefore      // it is not carried out
	diesAfter       // it is carried out, and nobody is there for the answer
)

// meet finds out what becomes of a request. The lock is held.
func (d *death) meet(seq int) fate {
	switch {
	case d == nil || seq < d.at:
		return lives
	case d.dead || !d.after:
		return diesBefore
	}
	return diesAfter
}

// killed ends a request of a dead process, and with the first of them its life.
func (t *Transport) killed(req *http.Request, q *Request) (*http.Response, error) {
	closeBody(req)
	err := &KilledError{q.Op}
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
