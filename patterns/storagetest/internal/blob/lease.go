package blob

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// The states of a lease, as the service names them:
// https://learn.microsoft.com/rest/api/storageservices/lease-blob
const (
	available = "available"
	leased    = "leased"
	expired   = "expired"
	breaking  = "breaking"
	broken    = "broken"
)

// forever is the duration of an infinite lease.
const forever = time.Duration(-1)

// lease is the lease of a blob or a container. The zero value is available.
type lease struct {
	id       string
	duration time.Duration // forever, or 15 to 60 seconds
	until    time.Time     // end of the lease or of its break; unused while infinite
	stopped  bool          // break was requested
}

func (l *lease) state(now time.Time) string {
	switch over := !now.Before(l.until); {
	case l.id == "":
		return available
	case l.stopped && over:
		return broken
	case l.stopped:
		return breaking
	case l.duration != forever && over:
		return expired
	}
	return leased
}

func (l *lease) locked(now time.Time) bool {
	state := l.state(now)
	return state == leased || state == breaking
}

func (l *lease) start(now time.Time) {
	l.stopped = false
	if l.duration != forever {
		l.until = now.Add(l.duration)
	}
}

// modified removes an expired lease, because it cannot be renewed after a write.
func (l *lease) modified(now time.Time) {
	if !l.locked(now) {
		*l = lease{}
	}
}

func conflict(code, message string) *reply.Error {
	return reply.New(http.StatusConflict, code, message)
}

func leaseMismatch() *reply.Error {
	return conflict("LeaseIdMismatchWithLeaseOperation", "The lease ID specified did not match the lease ID for the blob/container.")
}

func leaseAbsent() *reply.Error {
	return conflict("LeaseNotPresentWithLeaseOperation", "There is currently no lease on the blob/container.")
}

// acquire acquires the lease under the proposed id, or under a random one if proposed is "".
func (l *lease) acquire(now time.Time, proposed string, d time.Duration) *reply.Error {
	switch state := l.state(now); {
	case state == breaking && proposed == l.id:
		return conflict("LeaseIsBreakingAndCannotBeAcquired", "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.")
	case state == breaking, state == leased && proposed != l.id:
		return conflict("LeaseAlreadyPresent", "There is already a lease present.")
	}
	if proposed == "" {
		proposed = uuid.NewString()
	}
	l.id, l.duration = proposed, d
	l.start(now)
	return nil
}

func (l *lease) renew(now time.Time, id string) *reply.Error {
	switch state := l.state(now); {
	case state == available || id != l.id:
		return leaseMismatch()
	case state == breaking, state == broken:
		return conflict("LeaseIsBrokenAndCannotBeRenewed", "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.")
	}
	l.start(now)
	return nil
}

func (l *lease) change(now time.Time, id, proposed string) *reply.Error {
	switch state := l.state(now); {
	case state != leased && state != breaking:
		return leaseAbsent()
	case id != l.id && proposed != l.id:
		return leaseMismatch()
	case state == breaking:
		return conflict("LeaseIsBreakingAndCannotBeChanged", "The lease ID matched, but the lease is currently in breaking state and cannot be changed.")
	}
	l.id = proposed
	return nil
}

func (l *lease) release(now time.Time, id string) *reply.Error {
	if l.state(now) == available || id != l.id {
		return leaseMismatch()
	}
	*l = lease{}
	return nil
}

// end breaks the lease after period or, if period is negative, when the lease would expire
// (immediately if it is infinite). It returns the remaining time.
func (l *lease) end(now time.Time, period time.Duration) (time.Duration, *reply.Error) {
	var left time.Duration
	switch state := l.state(now); {
	case state == available:
		return 0, leaseAbsent()
	case state == leased && l.duration == forever:
		left = max(period, 0)
	case state == leased, state == breaking:
		left = l.until.Sub(now)
		if period >= 0 {
			left = min(left, period)
		}
	}
	l.stopped, l.until = true, now.Add(left)
	return left, nil
}

// allows returns an error if a request with that lease id may not use the resource. kind is
// Blob or Container, for the error code. A write requires the id of a locked lease.
func (l *lease) allows(now time.Time, id, kind string, write bool) *reply.Error {
	refuse := func(code, message string) *reply.Error {
		return reply.New(http.StatusPreconditionFailed, code, message)
	}
	state := l.state(now)
	locked := state == leased || state == breaking
	switch {
	case id == "" && write && locked:
		return refuse("LeaseIdMissing", "There is currently a lease on the resource and no lease ID was specified in the request.")
	case id == "":
		return nil
	case state == available:
		return refuse("LeaseNotPresentWith"+kind+"Operation", "There is currently no lease on the resource.")
	case id != l.id:
		return refuse("LeaseIdMismatchWith"+kind+"Operation", "The lease ID specified did not match the lease ID for the resource.")
	case !locked:
		return refuse("LeaseLost", "A lease ID was specified, but the lease for the resource has expired.")
	}
	return nil
}

// describe returns the values of status, state and duration in headers and lists.
func (l *lease) describe(now time.Time) (status, state, duration string) {
	status, state = "unlocked", l.state(now)
	if l.locked(now) {
		status = "locked"
	}
	if state == leased {
		duration = "fixed"
		if l.duration == forever {
			duration = "infinite"
		}
	}
	return status, state, duration
}

func (l *lease) headers(c *xmlservice.Call) {
	status, state, duration := l.describe(c.Now)
	c.Set("X-Ms-Lease-Status", status)
	c.Set("X-Ms-Lease-State", state)
	c.Set("X-Ms-Lease-Duration", duration)
}

func (l *lease) xml(x *xmlservice.XML, now time.Time) {
	status, state, duration := l.describe(now)
	x.Text("LeaseStatus", status)
	x.Text("LeaseState", state)
	x.Maybe("LeaseDuration", duration)
}
