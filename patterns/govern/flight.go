package govern

import (
	"cmp"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
)

// The limits of a request. The one of the partition comes first, so that a request that waits
// for its partition uses nothing of the account.
const (
	ofPartition = iota
	ofAccount
	limits
)

// flight is one try of a request. Flights are pooled.
type flight struct {
	g       *Governor
	request *target.Request
	account string           // of this request and most often of the next
	hash    [limits]uint64   // of the account, and of the account with the partition
	limiter [limits]*limiter // nil: not limited
	probe   [limits]bool     // the first request after a refusal
	weight  float64          // entities that the limiters were charged with
	sent    time.Duration
}

// begin waits until raw may be sent.
func (f *flight) begin(raw *http.Request) error {
	g := f.g
	f.request.Read(raw)
	f.identify()
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	background := raw.Context().Value(backgroundKey{}) != nil
	f.weight = 1
	recent := f.limiter
	f.limiter, f.probe = [limits]*limiter{}, [limits]bool{}
	for i := 0; i < limits; i++ {
		if f.hash[i] == 0 {
			continue
		}
		l := g.limiters.find(recent[i], f.hash[i], now, &g.courses[i], g.share)
		f.limiter[i] = l
		if i == ofPartition {
			f.weight = f.expected(raw.URL.RawQuery)
		} else if l != nil {
			l.earn(g.share)
		}
		if l == nil || l.admit(f.weight, now, &f.probe[i], background) {
			continue
		}
		err := g.wait(raw.Context(), l, f.weight, &f.probe[i], background)
		now = g.clock()
		taken := i
		if err == nil && i == ofAccount && f.refusedMeanwhile() {
			taken, i = limits, -1
		}
		if err != nil || i < 0 {
			for j, l := range f.limiter[:taken] {
				f.refund(j, l)
			}
			f.probe = [limits]bool{}
		}
		if err != nil {
			return err
		}
	}
	f.sent = now
	return nil
}

// refusedMeanwhile reports whether the partition refused another request while this one waited
// for the account. It then has to wait for the partition again.
func (f *flight) refusedMeanwhile() bool {
	l := f.limiter[ofPartition].still(f.hash[ofPartition])
	return l != nil && l.closed && !f.probe[ofPartition]
}

// identify computes the hashes. Requests that change tables, queues or containers use only the
// account. A query of several partitions has a limit for its table.
func (f *flight) identify() {
	if f.account != f.request.Account || f.hash[ofAccount] == 0 {
		f.account = f.request.Account
		f.hash[ofAccount] = maphash.String(f.g.seed, f.account)
	}
	f.hash[ofPartition] = 0
	if f.request.Kind != target.Other {
		key := f.request.Partition
		if key == (target.TextSpan{}) {
			key = f.request.Resource
		}
		f.hash[ofPartition] = maphash.Bytes(f.g.seed, f.request.In(key)) ^ f.hash[ofAccount]
	}
}

// expected returns the weight of the request as far as it is known before the reply: of a page,
// the number of rows that earlier pages of the partition had, or of the account, and at most those
// that the query asks for.
func (f *flight) expected(parameters string) float64 {
	l := f.limiter[ofPartition]
	if l == nil || f.request.Entities > 0 || f.request.Kind != target.Query && f.request.Kind != target.Poll {
		return float64(max(f.request.Entities, 1))
	}
	rows := l.page
	if a := f.g.limiters.byHash[f.hash[ofAccount]]; rows == 0 && a != nil {
		rows = a.page
	}
	if _, top, ok := strings.Cut(parameters, "top="); ok {
		top, _, _ = strings.Cut(top, "&")
		if most, err := strconv.Atoi(top); err == nil {
			return min(cmp.Or(rows, unknownPage), float64(max(most, 1)))
		}
	}
	return max(cmp.Or(rows, unknownPage), 1)
}

// refund returns what a request was charged with that is not sent.
func (f *flight) refund(i int, l *limiter) {
	if l = l.still(f.hash[i]); l == nil {
		return
	}
	if f.probe[i] {
		l.probing = false
	} else {
		l.charge(-f.weight)
	}
	l.dispatch(f.g.clock())
}

// end adjusts the limits to the reply. It returns an error instead of a reply that azcore would
// answer with a retry if the budget permits none.
func (f *flight) end(resp *http.Response, err error) (*http.Response, error) {
	g := f.g
	r := readReply(resp, err)
	g.mu.Lock()
	now := g.clock()
	refusing := -1 // the limit that refused the request
	if r.busy {
		if refusing = ofPartition; r.ofAccount || f.limiter[ofPartition] == nil {
			refusing = ofAccount
		}
	}
	for i, l := range f.limiter {
		if l = l.still(f.hash[i]); l == nil {
			continue
		}
		switch {
		case i == refusing:
			l.refused(now, f.sent, f.weight, f.probe[i], r.after)
		case r.answered && !r.busy:
			l.accepted(now, f.sent, f.weight)
			if f.request.Entities == 1 && f.request.Kind != target.Query {
				l.observe(now-f.sent, now)
			}
		case f.probe[i]: // nothing is known: the next request is the probe
			l.probing = false
		}
		l.dispatch(now)
	}
	denied := r.retriable && !f.limiter[ofAccount].still(f.hash[ofAccount]).spend()
	g.mu.Unlock()
	if denied {
		g.flights.Put(f)
		return nil, deny(resp, err)
	}
	if err != nil || !f.request.Wrap(resp, f) {
		g.flights.Put(f)
	}
	return resp, err
}

// Page charges the rows of a page that were not expected, and ends the flight.
func (f *flight) Page(rows, _ int64) {
	g := f.g
	g.mu.Lock()
	for i, l := range f.limiter {
		if l = l.still(f.hash[i]); l == nil {
			continue
		}
		more := max(float64(rows), 1) - f.weight
		if read := max(float64(rows), 1); f.request.Entities == 0 {
			l.page += (read - cmp.Or(l.page, read)) / 4
			l.page = cmp.Or(l.page, read)
		}
		l.charge(more)
		l.steps[l.step%stepsKept] += more
		if l.waiting() {
			l.dispatch(g.clock())
		}
	}
	g.mu.Unlock()
	g.flights.Put(f)
}
