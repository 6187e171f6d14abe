package regions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// probeTimeout is how long a probe waits for the primary. Its read does not wait for it.
const probeTimeout = 10 * time.Second

// errSilent is the failure of a region that does not reply.
var errSilent = errors.New("regions: no reply")

// errOvertaken is why a read is cancelled if another one returned the same rows earlier.
var errOvertaken = errors.New("regions: another read was faster")

// race is a read that one or both regions may answer. The fields below replies belong to the
// goroutine of the reader.
type race struct {
	pair       *Pair
	inner      policy.Transporter
	req        *http.Request
	permission *permission
	latencies  *latencies // of its kind
	replies    chan *reply
	done       chan struct{} // closed when the reader no longer waits

	sent   []*reply
	winner *reply
}

// reply is the outcome of one request of a race.
type reply struct {
	source Source
	probe  bool
	began  time.Time
	cancel context.CancelFunc // of the request
	ended  bool               // the reader received it
	resp   *http.Response
	err    error
}

// failed reports whether the region could not answer. The service sends no redirects: they are of a
// proxy, or of who pretends to be the service.
func (a *reply) failed() bool {
	return a.err != nil || a.resp.StatusCode >= http.StatusInternalServerError && a.resp.StatusCode != http.StatusNotImplemented || a.busy() ||
		a.resp.StatusCode >= http.StatusMultipleChoices && a.resp.StatusCode < http.StatusBadRequest
}

// busy reports whether the region refused the read because of load, or a governor did not send it.
func (a *reply) busy() bool {
	resp := a.resp
	if refusal := (*azcore.ResponseError)(nil); errors.As(a.err, &refusal) {
		resp = refusal.RawResponse
	}
	return azerr.IsUnsent(a.err) || runtime.HasStatusCode(resp, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusRequestTimeout)
}

// usable reports whether the reply answers the read. Errors of the secondary do not: it may
// be disabled, or may lack the row.
func (a *reply) usable() bool {
	if a.source.Region == Secondary {
		return a.err == nil && a.resp.StatusCode < http.StatusMultipleChoices
	}
	return !a.failed()
}

// final reports whether a reply of the secondary is returned if the primary is down: it has no
// such row, or demands another token, which the SDK then requests.
func (a *reply) final() bool {
	return a.source.Region == Secondary && a.err == nil && (a.resp.StatusCode == http.StatusNotFound || a.resp.StatusCode == http.StatusUnauthorized)
}

// discard frees the connection of a reply that is not used.
func (a *reply) discard() {
	if a.resp != nil {
		_ = a.resp.Body.Close()
	}
	a.cancel()
}

// send sends the read to a region. A probe has a time limit, but not that of the reader.
func (r *race) send(region Region, probe bool) {
	ctx, cancel := context.WithCancel(r.req.Context())
	if probe {
		cancel()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(r.req.Context()), probeTimeout)
	}
	a := &reply{source: Source{Region: region}, probe: probe, began: time.Now(), cancel: cancel}
	r.sent = append(r.sent, a)
	req := r.req.Clone(ctx)
	go func() {
		r.pair.carryOut(a, r.inner, req, r.latencies)
		select {
		case r.replies <- a:
		case <-r.done:
			a.discard()
		}
	}()
}

// carryOut sends req, and records what the reply of a primary shows about it.
func (p *Pair) carryOut(a *reply, inner policy.Transporter, req *http.Request, latencies *latencies) {
	if a.source.Region == Secondary {
		synced := p.before(req.Context())
		toSecondary(req)
		if a.resp, a.err = inner.Do(req); a.err == nil {
			a.source.MaxAge = ageOf(a.resp.Header, synced)
		}
		return
	}
	a.resp, a.err = inner.Do(req)
	now := time.Now()
	switch {
	case !a.failed():
		latencies.add(now.Sub(a.began))
		p.health.answered(now)
	case errors.Is(req.Context().Err(), context.Canceled) && !a.probe: // by the reader
	default:
		p.health.failed(now, loss{probe: a.probe, replied: a.err == nil || a.busy(), busy: a.busy()})
	}
}

// end cancels the requests that are not needed. A probe continues, because it finds out
// whether the primary is up, unless the reader has given up.
func (r *race) end() {
	for _, a := range r.sent {
		switch {
		case a == r.winner:
		case a.ended:
			a.discard()
		case !a.probe || r.req.Context().Err() != nil:
			a.cancel()
		}
	}
	close(r.done)
}

// run lets both regions answer, or only one of them, because the read continues an earlier one
// there.
func (r *race) run(only Region) *reply {
	w := wait{race: r, only: only, began: time.Now()}
	if !w.begin() {
		return &reply{err: errSilent}
	}
	w.timer = time.NewTimer(w.delay)
	defer w.timer.Stop()
	for {
		event, answer := w.next()
		switch {
		case answer != nil:
			return answer
		case event == tooEarly:
		case event == silent && (only == Primary || r.permission.sticky):
			r.overtaken(nil)
			return &reply{err: errSilent}
		default:
			w.askAgain()
		}
	}
}

// wait is the wait for the replies of a race.
type wait struct {
	*race
	only           Region // "" for both
	way            route
	began          time.Time
	delay, silence time.Duration // until the read is sent again, and until a region counts as silent
	timer          *time.Timer
	open           int    // requests without a reply
	asked          bool   // the read was sent again, or both regions have it
	failure        *reply // of the primary, if that has failed
}

// event is why a wait goes on without an answer.
type event int

const (
	tooEarly event = iota
	slow           // the first region has not replied in time, or has failed
	silent         // the first region does not reply
)

// begin sends the first requests. It reports whether there is a region to send them to.
func (w *wait) begin() bool {
	w.way = route{first: Secondary}
	if w.only != Secondary {
		w.way = w.pair.health.route(w.began)
	}
	if w.only == Primary {
		if w.way.down && !w.way.probe {
			return false
		}
		w.way.first = Primary
	}
	w.pair.hedges.earn()
	w.delay, w.silence = w.latencies.waits()
	if w.only == "" && w.way.first == Secondary {
		w.delay = w.silence
	}
	w.send(w.way.first, w.way.probe)
	if w.way.probe && w.only == "" {
		w.send(Secondary, false)
	}
	w.open, w.asked = len(w.sent), len(w.sent) == 2
	return true
}

// next waits for a reply, or for the time to do without it. The answer is nil if there is none yet.
func (w *wait) next() (event, *reply) {
	select {
	case <-w.req.Context().Done():
		if context.Cause(w.req.Context()) == errOvertaken {
			w.overtaken(nil)
		}
		return tooEarly, &reply{err: w.req.Context().Err()}
	case <-w.timer.C:
		w.timer.Reset(w.delay)
		return w.timedOut(), nil
	case <-w.way.fell:
		w.way.fell = nil
		return silent, nil
	case a := <-w.replies:
		return slow, w.answer(a)
	}
}

// timedOut judges the first region, which has not replied before the timer ended.
func (w *wait) timedOut() event {
	health := &w.pair.health
	switch {
	case w.only == Secondary && health.region() == Secondary:
		return tooEarly
	case time.Since(w.began) >= w.silence && !w.permission.patient && (w.way.first == Secondary || health.silent(w.began)):
		return silent
	case w.asked || !w.pair.hedges.spend():
		return tooEarly
	}
	return slow
}

// answer returns a, or the failure that is the answer if no reply is left; nil to wait for another.
func (w *wait) answer(a *reply) *reply {
	a.ended = true
	w.open--
	switch {
	case a.usable():
		w.overtaken(a)
		return a
	case w.only != "" && w.open == 0 || w.way.down && a.final():
		return a
	case a.source.Region == Primary || w.failure == nil:
		w.failure = a
	}
	if w.open == 0 && w.asked {
		return w.failure
	}
	return nil
}

// askAgain sends the read again, to the other region if both may answer, unless that was done.
func (w *wait) askAgain() {
	switch {
	case w.asked:
	case w.only == "":
		w.open++
		w.send(w.way.first.other(), false)
	case w.permission.sticky: // the other region cannot continue a scan
		w.open++
		w.send(w.only, false)
	default:
		select {
		case w.permission.slow <- struct{}{}:
		default: // another request of the page was slow, too
		}
	}
	w.asked = true
}

// overtaken records that the read no longer waits for the primary.
func (r *race) overtaken(winner *reply) {
	for _, a := range r.sent {
		if a.source.Region == Primary && a != winner && !a.ended && !a.probe {
			r.latencies.add(time.Since(a.began))
			r.pair.health.failed(time.Now(), loss{slow: true})
		}
	}
}

// body cancels the context of its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
