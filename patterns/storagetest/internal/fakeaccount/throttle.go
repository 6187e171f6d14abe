package fakeaccount

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/table"
)

// Targets are how many entities, messages and blobs per second an account accepts before it
// is busy. A target that is not positive has no effect.
// https://learn.microsoft.com/azure/storage/tables/scalability-targets
// https://learn.microsoft.com/azure/storage/queues/scalability-targets
type Targets struct {
	Partition int // entities of one partition of a table
	Queue     int // messages of one queue
	Account   int // entities, messages and blobs of the account
}

// throttle counts what the requests of each second used. The zero value has no targets. It
// is safe for concurrent use.
type throttle struct {
	mu      sync.Mutex
	targets Targets
	second  int64
	used    map[unit]int
}

// unit is what a target is for: a partition, a queue, or the whole account, whose unit is
// the zero value.
type unit struct {
	service             op.Service
	resource, partition string
}

func (u unit) target(t Targets) int {
	switch u.service {
	case op.Table:
		return t.Partition
	case op.Queue:
		return t.Queue
	}
	return t.Account
}

// set changes the targets. What was used in the present second counts, but no unit owes more
// than a whole second of its new target: it would otherwise be busy for long after a much
// smaller target.
func (t *throttle) set(targets Targets, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	t.targets = targets
	if t.used == nil {
		t.used = map[unit]int{}
	}
	for u, n := range t.used {
		if target := u.target(targets); target > 0 {
			t.used[u] = min(n, target)
		} else {
			delete(t.used, u)
		}
	}
}

// admit counts a request, or refuses it if its target is already reached in this second. The
// request that exceeds a target is carried out, and what it uses beyond the target is counted
// in the next seconds. What a refused request would have used is not counted.
func (t *throttle) admit(r *request.Request) *reply.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.targets == (Targets{}) {
		return nil
	}
	t.advance(r.LocalTime())
	units := unitsOf(r)
	for _, u := range units {
		if target := u.target(t.targets); target > 0 && t.used[u] >= target {
			return busy(u)
		}
	}
	t.add(units, max(1, len(r.Rows)))
	return nil
}

// charge counts the rows or messages that a request returned, beyond the first, which admit
// has counted.
func (t *throttle) charge(r *request.Request) {
	if r.Op != op.TableQuery && r.Op != op.QueueGet && r.Op != op.QueuePeek || r.Result.Returned < 2 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.targets != (Targets{}) {
		t.add(unitsOf(r), r.Result.Returned-1)
	}
}

func (t *throttle) add(units []unit, n int) {
	for _, u := range units {
		if u.target(t.targets) > 0 {
			t.used[u] += n
		}
	}
}

// advance begins the second of now: every target permits that much again.
func (t *throttle) advance(now time.Time) {
	passed := now.Unix() - t.second
	if passed <= 0 { // a late request may belong to an earlier second
		return
	}
	t.second += passed
	for u, n := range t.used {
		if target := u.target(t.targets); int64((n-1)/target) < passed { // cannot overflow, unlike target*passed
			delete(t.used, u)
		} else {
			t.used[u] = n - target*int(passed)
		}
	}
}

// unitsOf returns what a request uses. A query that is not restricted to one partition uses
// only the account.
func unitsOf(r *request.Request) []unit {
	units := []unit{{}}
	resource := strings.ToLower(r.Resource)
	switch {
	case r.Service == op.Table && len(r.Rows) > 0:
		units = append(units, unit{op.Table, resource, r.Rows[0].Partition})
	case r.Op == op.TableQuery:
		if partition, ok := table.QueryPartition(r); ok {
			units = append(units, unit{op.Table, resource, partition})
		}
	case r.Service == op.Queue && r.Resource != "":
		units = append(units, unit{op.Queue, resource, ""})
	}
	return units
}

// busy returns the error of a throttled request.
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
func busy(u unit) *reply.Error {
	message := "The server is currently unable to receive requests. Please retry your request."
	if u == (unit{}) {
		message = "Operations per second is over the account limit."
	}
	return reply.New(http.StatusServiceUnavailable, "ServerBusy", message)
}
