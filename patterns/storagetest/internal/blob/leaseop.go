package blob

import (
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
		return "", reply.InvalidHeader(name, text)
	}
	return id.String(), nil
}

// holdsContainer checks the lease id of a request on a container.
func (c *call) holdsContainer(ct *container, needed bool) *reply.Error {
	id, e := leaseID(c.Call, "X-Ms-Lease-Id")
	if e != nil {
		return e
	}
	return ct.lease.allows(c.Now, id, "Container", needed)
}

// holds checks the lease id of a request on a blob; b is nil if the request creates it.
func (c *call) holds(b *blob, write bool) *reply.Error {
	id, e := leaseID(c.Call, "X-Ms-Lease-Id")
	if e != nil {
		return e
	}
	if b == nil {
		return new(lease).allows(c.Now, id, "Blob", write)
	}
	return b.lease.allows(c.Now, id, "Blob", write)
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
	if e != nil {
		return nil, e
	}
	proposed, e := leaseID(c.Call, "X-Ms-Proposed-Lease-Id")
	if e != nil {
		return nil, e
	}
	need := func(ok bool, header string) *reply.Error {
		if !ok {
			return reply.MissingHeader(header)
		}
		return nil
	}
	replyWith := func(l *lease, status int, stamp func()) *reply.Error {
		stamp()
		c.Set("X-Ms-Lease-Id", l.id)
		c.Empty(status)
		return nil
	}
	switch action := c.Header("X-Ms-Lease-Action"); action {
	case "acquire":
		d, e := c.leaseSeconds("X-Ms-Lease-Duration", 15, true)
		if e == nil {
			e = need(c.Header("X-Ms-Lease-Duration") != "", "x-ms-lease-duration")
		}
		return func(l *lease, stamp func()) *reply.Error {
			if e := l.acquire(c.Now, proposed, d); e != nil {
				return e
			}
			return replyWith(l, http.StatusCreated, stamp)
		}, e
	case "renew":
		return func(l *lease, stamp func()) *reply.Error {
			if e := l.renew(c.Now, id); e != nil {
				return e
			}
			return replyWith(l, http.StatusOK, stamp)
		}, need(id != "", "x-ms-lease-id")
	case "change":
		e := need(id != "", "x-ms-lease-id")
		if e == nil {
			e = need(proposed != "", "x-ms-proposed-lease-id")
		}
		return func(l *lease, stamp func()) *reply.Error {
			if e := l.change(c.Now, id, proposed); e != nil {
				return e
			}
			return replyWith(l, http.StatusOK, stamp)
		}, e
	case "release":
		return func(l *lease, stamp func()) *reply.Error {
			if e := l.release(c.Now, id); e != nil {
				return e
			}
			return replyWith(l, http.StatusOK, stamp)
		}, need(id != "", "x-ms-lease-id")
	case "break":
		period, e := c.leaseSeconds("X-Ms-Lease-Break-Period", 0, false)
		return func(l *lease, stamp func()) *reply.Error {
			left, e := l.end(c.Now, period)
			if e != nil {
				return e
			}
			stamp()
			c.Set("X-Ms-Lease-Time", strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10))
			c.Empty(http.StatusAccepted)
			return nil
		}, e
	case "":
		return nil, reply.MissingHeader("x-ms-lease-action")
	default:
		return nil, reply.InvalidHeader("x-ms-lease-action", action)
	}
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
		return 0, reply.InvalidHeader(name, text)
	}
	return time.Duration(n) * time.Second, nil
}
