package storagetest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// network carries requests to the service, and holds the ones that arrive late. It outlives
// the senders: all transports that wrap the same network share it.
//
// A late request that is due is carried out before the next request of any sender, in the
// goroutine of that sender. Nothing is carried out between, so the result is the same as if
// the request had arrived when it was due.
type network struct {
	inner policy.Transporter

	mu      sync.Mutex
	carried int // requests that were carried out, except late ones
	late    []*held
}

// held is a request that its sender abandoned, and that arrives later.
type held struct {
	attempt *attempt
	req     *http.Request
	due     time.Time // when it arrives, unless turn is reached before
	turn    int       // it arrives once the network has carried out that many requests
}

func networkOf(inner policy.Transporter) *network {
	if n, ok := inner.(*network); ok {
		return n
	}
	return &network{inner: inner}
}

// Do carries out the late requests that are due, and then req.
func (n *network) Do(req *http.Request) (*http.Response, error) {
	res, _, err := n.do(req)
	return res, err
}

// do is Do, and also returns the late requests that arrived before req.
func (n *network) do(req *http.Request) (res *http.Response, before []*held, err error) {
	before = n.take()
	for _, l := range before {
		l.arrive(n.inner)
	}
	res, err = n.inner.Do(req)
	return res, before, err
}

// take counts a request, and removes and returns the late requests that are due before it.
func (n *network) take() (due []*held) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.late) > 0 {
		now := time.Now()
		due = n.remove(func(l *held) bool { return !now.Before(l.due) || n.carried >= l.turn })
	}
	n.carried++
	return due
}

// remove removes and returns the late requests for which due returns true, in the order in
// which they are due. The caller holds the lock.
func (n *network) remove(due func(*held) bool) []*held {
	var removed, kept []*held
	for _, l := range n.late {
		if due(l) {
			removed = append(removed, l)
		} else {
			kept = append(kept, l)
		}
	}
	n.late = kept
	slices.SortStableFunc(removed, func(a, b *held) int { return a.due.Compare(b.due) })
	return removed
}

// hold keeps req, with its complete body and headers, until it arrives: after the delay, or
// once the network has carried out that many further requests.
func (n *network) hold(a *attempt, req *http.Request, after time.Duration, requests int) error {
	sent, err := rewindable(req)
	if err != nil {
		return err
	}
	sent.Header = req.Header.Clone()
	sent.URL = new(url.URL)
	*sent.URL = *req.URL
	n.mu.Lock()
	defer n.mu.Unlock()
	turn := math.MaxInt
	if requests < math.MaxInt-n.carried {
		turn = n.carried + requests
	}
	n.late = append(n.late, &held{a, sent, time.Now().Add(after), turn})
	return nil
}

// arrive carries the request out. Its reply has no receiver.
func (l *held) arrive(inner policy.Transporter) {
	a := l.attempt
	r := *a.r
	r.URL, r.Result = l.req.URL, &request.Result{}
	if l.due.Before(time.Now()) {
		r.Arrival = l.due
	}
	a.t.note(func() { a.q.Sent = true })
	// The context of the sender has no effect: the sender is gone.
	res, err := inner.Do(request.Bind(l.req.WithContext(context.Background()), &r))
	if err != nil {
		a.t.note(func() { a.q.Sent, a.q.Fault = false, a.q.Fault+fmt.Sprintf(".Failed(%v)", err) })
		return
	}
	drop(res)
	a.t.note(func() {
		a.q.record(r.Result, res)
		a.q.Fault += ".Arrived"
	})
}

// Arrive carries out every late request that is pending, due or not, of all transports with
// the same inner transport, in the order in which they are due. It returns how many these
// were.
func (t *transport) Arrive() int {
	n := t.network
	n.mu.Lock()
	all := n.remove(func(*held) bool { return true })
	n.mu.Unlock()
	for _, l := range all {
		l.arrive(n.inner)
	}
	return len(all)
}
