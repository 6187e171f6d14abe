package govern

import (
	"context"
	"time"
)

// waiter is a request that waits for its turn. granted is closed under the mutex of the
// governor, after the tokens were taken.
type waiter struct {
	weight     float64
	probe      *bool
	granted    chan struct{}
	prev, next *waiter
	queued     bool
}

// queue is a list of waiters in the order of their arrival.
type queue struct {
	first, last *waiter
	weight      float64 // of all
}

func (q *queue) push(w *waiter) {
	if w.prev, w.queued = q.last, true; w.prev != nil {
		w.prev.next = w
	} else {
		q.first = w
	}
	q.last = w
	q.weight += w.weight
}

func (q *queue) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.last = w.prev
	}
	if q.weight -= w.weight; q.first == nil {
		q.weight = 0 // without the errors of rounding
	}
	w.queued = false
}

func (l *limiter) waiting() bool { return l.queue[0].first != nil || l.queue[1].first != nil }

// dispatch admits requests that wait, and sets the timer for the next. The foreground comes first,
// but owes the background a share of what it uses while both wait.
func (l *limiter) dispatch(now time.Duration) {
	if !l.waiting() {
		return
	}
	l.advance(now)
	fore, back := &l.queue[0], &l.queue[1]
	for l.waiting() {
		q := fore
		if back.first == nil {
			l.owed = 0
		} else if fore.first == nil || l.owed >= back.first.weight {
			q = back
		}
		w := q.first
		if need := l.enough(w.weight); !l.take(w.weight, now, w.probe, q == back) {
			if q == fore {
				need = 0
			}
			l.schedule(now, need)
			return
		}
		if l.owed += w.weight * backgroundShare; q == back {
			l.owed = max(l.owed-w.weight, 0)
		}
		q.remove(w)
		close(w.granted)
	}
}

// schedule sets the timer to when the next request may be sent, which needs some tokens.
func (l *limiter) schedule(now time.Duration, need float64) {
	wait := l.untilFree(need, now)
	if l.closed && l.probing {
		return // its reply calls dispatch
	}
	l.timer.Reset(max(wait, l.tick))
}

// wait waits until l admits a request of that weight, for at most as long as ctx permits. The
// caller holds the mutex, which wait releases meanwhile.
func (g *Governor) wait(ctx context.Context, l *limiter, weight float64, probe *bool, background bool) error {
	now := g.clock()
	q, ahead := &l.queue[0], l.queue[0].weight
	if background {
		q, ahead = &l.queue[1], ahead+l.queue[1].weight
	}
	var late <-chan time.Time
	if deadline, ok := ctx.Deadline(); ok {
		left, wait := time.Until(deadline)-margin, l.untilFree(ahead, now)
		if left <= 0 || left < wait && (l.learned > 0 || l.closed) { // how fast slow start grows is not known
			return waitError(wait, context.DeadlineExceeded)
		}
		timer := time.NewTimer(left)
		defer timer.Stop()
		late = timer.C
	}
	w := &waiter{weight: weight, probe: probe, granted: make(chan struct{})}
	q.push(w)
	l.reached = now
	l.hungry = l.hungry || !l.closed
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Hour, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			l.dispatch(g.clock())
		})
	}
	l.dispatch(now)
	g.mu.Unlock()
	var err error
	select {
	case <-w.granted:
	case <-late:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	if err == nil || !w.queued { // granted meanwhile
		return nil
	}
	q.remove(w)
	return waitError(l.untilFree(ahead, g.clock()), err)
}

// margin is how long before its deadline a request stops waiting. azcore replaces the errors of
// requests whose deadline has passed.
const margin = time.Millisecond
