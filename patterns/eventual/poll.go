package eventual

import (
	"sync"
	"time"
)

// poller receives messages for the handlers of a Worker. It receives more than there are free
// handlers if these are fast: a handler that ends then has its next message, and one request
// receives many. All its methods run in the goroutine of [Worker.poll].
type poller struct {
	*Worker
	scope    *scope
	handlers *sync.WaitGroup

	held    []*message // received and not started, oldest first
	running int        // messages that were started
	ended   chan time.Duration
	took    time.Duration // by a message that was started, on average; 0 if unknown
}

// A worker holds as many messages as are likely to be started within holdAhead. It releases
// one that was not started within holdLimit, for other workers, and before a third of its
// visibility timeout has passed: then its lease would have to be renewed.
const (
	holdAhead = time.Second
	holdLimit = 5 * time.Second
)

// received is the result of a request for messages.
type received struct {
	messages []message
	err      error
}

// poll receives messages and starts handlers until s.poll ends. It returns an error only
// if the first request is refused.
func (w *Worker) poll(s *scope, handlers *sync.WaitGroup) error {
	p := &poller{Worker: w, scope: s, handlers: handlers, ended: make(chan time.Duration, w.opts.Parallel)}
	hold := time.NewTimer(0)
	defer hold.Stop()
	results := make(chan received, 1)
	var paused <-chan time.Time
	pause, first, polling := w.opts.PollMin, true, false
	for stop := s.poll.Done(); ; {
		p.startHeld()
		if n := p.room(); n > 0 && !polling && paused == nil && stop != nil {
			polling = true
			handlers.Go(func() {
				// The end of s.poll does not cancel a poll that is under way: the messages that it
				// receives would stay invisible until their visibility timeout ends.
				ms, err := w.queue.receive(s.work, n, w.opts.Visibility)
				results <- received{ms, err}
			})
		}
		if stop == nil && !polling {
			return nil
		}
		if len(p.held) > 0 {
			hold.Reset(time.Until(p.held[0].hidden.Add(p.holdLimit())))
		}
		select {
		case <-stop:
			stop = nil
		case <-paused:
			paused = nil
		case took := <-p.ended:
			p.end(took)
		case <-hold.C:
			p.releaseOverdue()
		case r := <-results:
			polling = false
			if r.err != nil && stop != nil && s.poll.Err() == nil {
				if first && refused(r.err) {
					return r.err
				}
				w.opts.Logger.Error("eventual: poll failed", "error", r.err)
			}
			first = false
			for i := range r.messages {
				p.held = append(p.held, &r.messages[i])
			}
			if len(r.messages) > 0 {
				pause = w.opts.PollMin
				continue
			}
			paused = time.After(jitter(pause, 0.25))
			pause = min(2*pause, w.opts.PollMax)
		}
	}
}

// startHeld starts the handlers of messages that were received, as far as handlers are free.
// When the worker stops, it releases the messages.
func (p *poller) startHeld() {
	for len(p.held) > 0 && (p.running < p.opts.Parallel || p.scope.poll.Err() != nil) {
		m := p.held[0]
		p.held = p.held[1:]
		if p.scope.poll.Err() != nil {
			p.handlers.Go(func() { p.release(p.scope, m, ErrStopped) })
			continue
		}
		p.running++
		p.handlers.Go(func() {
			began := time.Now()
			defer func() { p.ended <- time.Since(began) }()
			p.process(p.scope, m)
		})
	}
}

// end takes note of a message that took so long from its start.
func (p *poller) end(took time.Duration) {
	p.running--
	if p.took == 0 {
		p.took = took
	}
	p.took = max(p.took+(took-p.took)/8, 1)
}

// room returns how many messages to ask for now: none if few can be held, and no handler waits
// for one.
func (p *poller) room() int {
	ahead := 0
	if p.took > 0 {
		ahead = int(min(holdAhead*time.Duration(p.opts.Parallel)/p.took, maxReceive))
	}
	n := p.opts.Parallel - p.running + ahead - len(p.held)
	if idle := p.running < p.opts.Parallel && len(p.held) == 0; !idle && n < (ahead+1)/2 {
		return 0
	}
	return min(n, maxReceive)
}

func (p *poller) holdLimit() time.Duration { return min(holdLimit, p.opts.Visibility/3) }

// releaseOverdue releases the messages that were held for too long. It assumes that all
// handlers take as long, until the next one ends.
func (p *poller) releaseOverdue() {
	for len(p.held) > 0 && time.Since(p.held[0].hidden) >= p.holdLimit() {
		m := p.held[0]
		p.held, p.took = p.held[1:], max(p.took, p.holdLimit()*maxReceive)
		p.handlers.Go(func() { p.release(p.scope, m, errBusy) })
	}
}
