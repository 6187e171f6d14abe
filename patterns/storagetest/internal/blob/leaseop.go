package blob

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// leaseID reads a lease id, which may be in any form of a GUID, "" if the header is absent.
func leaseID(c *xmlservice.Call, name string) (string, *reply.Error) {
	text := c.Header(name)
	if text == "" {
		return "", nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return "", reply.InvalidHeader(name, text, "a GUID")
	}
	return id.String(), nil
}

// holdsContainer checks the lease id of a request on a container.
func (c *call) holdsContainer(ct *container, needed bool) *reply.Error {
	return c.allowed(&ct.lease, "Container", needed)
}

// holds checks the lease id of a request on a blob; b is nil if the request creates it.
func (c *call) holds(b *blob, write bool) *reply.Error {
	if b == nil {
		b = new(blob)
	}
	return c.allowed(&b.lease, "Blob", write)
}

func (c *call) allowed(l *lease, kind string, write bool) *reply.Error {
	id, e := leaseID(c.Call, "X-Ms-Lease-Id")
	if e != nil {
		return e
	}
	return l.allows(c.Now, id, kind, write)
}

// https://learn.microsoft.com/rest/api/storageservices/lease-container
func (c *call) leaseContainer() *reply.Error {
	do, e := c.leaseAction()
	if e != nil {
		return e
	}
	cond, e := c.containerConditions()
	if e != nil {
		return e
	}
	return c.onContainer(func(ct *container) *reply.Error {
		if e := cond.write(ct.etag, ct.modified); e != nil {
			return e
		}
		return do(&ct.lease, func() { c.Stamp(ct.etag, ct.modified) })
	})
}

// https://learn.microsoft.com/rest/api/storageservices/lease-blob
func (c *call) leaseBlob() *reply.Error {
	do, e := c.leaseAction()
	if e != nil {
		return e
	}
	cond, e := readConditions(c.Call, "", false)
	if e != nil {
		return e
	}
	return c.onBlob(func(_ *container, b *blob) *reply.Error {
		if e := cond.write(b.etag, b.modified); e != nil {
			return e
		}
		return do(&b.lease, func() { c.Stamp(b.etag, b.modified) })
	})
}

// leaseAction reads the action and its headers, and returns a function that carries it out
// and replies. The stamp that is passed to that function sets the headers of the resource.
func (c *call) leaseAction() (func(l *lease, stamp func()) *reply.Error, *reply.Error) {
	id, e := leaseID(c.Call, "X-Ms-Lease-Id")
	proposed, e2 := leaseID(c.Call, "X-Ms-Proposed-Lease-Id")
	duration, e3 := c.leaseSeconds("X-Ms-Lease-Duration", 15, true)
	period, e4 := c.leaseSeconds("X-Ms-Lease-Break-Period", 0, false)
	if e := cmp.Or(e, e2); e != nil {
		return nil, e
	}
	status := http.StatusOK
	var left time.Duration
	var do func(*lease) *reply.Error
	switch action := c.Header("X-Ms-Lease-Action"); action {
	case "acquire":
		e = cmp.Or(e3, c.need("x-ms-lease-duration"))
		status = http.StatusCreated
		do = func(l *lease) *reply.Error { return l.acquire(c.Now, proposed, duration) }
	case "renew":
		e = c.need("x-ms-lease-id")
		do = func(l *lease) *reply.Error { return l.renew(c.Now, id) }
	case "change":
		e = cmp.Or(c.need("x-ms-lease-id"), c.need("x-ms-proposed-lease-id"))
		do = func(l *lease) *reply.Error { return l.change(c.Now, id, proposed) }
	case "release":
		e = c.need("x-ms-lease-id")
		do = func(l *lease) *reply.Error { return l.release(c.Now, id) }
	case "break":
		e, status = e4, http.StatusAccepted
		do = func(l *lease) (e *reply.Error) { left, e = l.end(c.Now, period); return e }
	default:
		e = cmp.Or(c.need("x-ms-lease-action"), reply.InvalidHeader("x-ms-lease-action", action, "acquire, renew, change, release or break"))
	}
	return func(l *lease, stamp func()) *reply.Error {
		if e := do(l); e != nil {
			return e
		}
		stamp()
		if status == http.StatusAccepted {
			c.Set("X-Ms-Lease-Time", itoa(int64((left+time.Second-1)/time.Second)))
		} else {
			c.Set("X-Ms-Lease-Id", l.id)
		}
		return c.Empty(status)
	}, e
}

// need returns an error if a header is absent.
func (c *call) need(name string) *reply.Error {
	if c.Header(name) == "" {
		return reply.MissingHeader(name)
	}
	return nil
}

// leaseSeconds reads a duration of low to 60 seconds or, if infinite is true, -1 for
// forever. If the header is absent, the result is negative.
func (c *call) leaseSeconds(name string, low int, infinite bool) (time.Duration, *reply.Error) {
	text := c.Header(name)
	if text == "" {
		return forever, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && n == -1 && infinite {
		return forever, nil
	}
	if err != nil || n < low || n > 60 {
		return 0, reply.InvalidHeader(name, text, "a number of seconds within the limits of the operation")
	}
	return time.Duration(n) * time.Second, nil
}
