package fault

import (
	"errors"
	"net/http"
	"runtime"

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

// death describes when a process dies.
type death struct {
	at    int  // the request, by its number
	after bool // once it was carried out
	then  func()
	dead  bool
	late  int // requests since
}

// tooLate is the number of requests that a dead process may send before its goroutines
// are ended: some code retries forever and ignores its context.
const tooLate = 5_000

// Kill simulates that the process that sends the requests dies at the request with the
// number at: just before it is carried out or, if after is true, just after it. No later
// request is carried out. then is called once, when the process dies. A goroutine that sends
// thousands of requests after that is ended by runtime.Goexit.
func (t *Transport) Kill(at int, after bool, then func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.death = &death{at: at, after: after, then: then}
}

// fate is what happens to a request when its sender dies.
type fate uint8

const (
	lives      fate = iota
	diesBefore      // it is not carried out
	diesAfter       // it is carried out, and the reply is not delivered
)

// meet returns the fate of a request. The caller holds the lock.
func (d *death) meet(seq int) fate {
	switch {
	case d == nil || seq < d.at:
		return lives
	case d.dead || !d.after:
		return diesBefore
	}
	return diesAfter
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
