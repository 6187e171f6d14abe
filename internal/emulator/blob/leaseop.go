package blob

import (
	"net/http"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
	"github.com/google/uuid"
)

// leaseID reads a lease id in any GUID form; "" when the header is absent.
func leaseID(c *restxml.Call, name string) (string, *restxml.Error) {
	text := c.Header(name)
	if text == "" {
		return "", nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return "", restxml.InvalidHeader(name, text)
	}
	return id.String(), nil
}

// holdsContainer checks the lease id of a request on a container.
func (r *request) holdsContainer(ct *container, needed bool) *restxml.Error {
	id, e := leaseID(r.Call, "X-Ms-Lease-Id")
	if e != nil {
		return e
	}
	return ct.lease.allows(r.Now, id, "Container", needed)
}

// holds checks the lease id of a request on a blob; b nil is a blob that the
// request is about to create.
func (r *request) holds(b *blob, write bool) *restxml.Error {
	id, e := leaseID(r.Call, "X-Ms-Lease-Id")
	if e != nil {
		return e
	}
	if b == nil {
		return new(lease).allows(r.Now, id, "Blob", write)
	}
	return b.lease.allows(r.Now, id, "Blob", write)
}

// https://learn.microsoft.com/rest/api/storageservices/lease-container
func (r *request) leaseContainer() *restxml.Error {
	do, e := r.leaseAction()
	if e != nil {
		return e
	}
	cond, e := r.containerConditions()
	if e != nil {
		return e
	}
	return r.onContainer(func(ct *container) *restxml.Error {
		if e := cond.write(ct.etag, ct.modified); e != nil {
			return e
		}
		return do(&ct.lease, func() { r.Stamp(ct.etag, ct.modified) })
	})
}

// https://learn.microsoft.com/rest/api/storageservices/lease-blob
func (r *request) leaseBlob() *restxml.Error {
	do, e := r.leaseAction()
	if e != nil {
		return e
	}
	cond, e := readConditions(r.Call, "", false)
	if e != nil {
		return e
	}
	return r.onBlob(func(_ *container, b *blob) *restxml.Error {
		if e := cond.write(b.etag, b.modified); e != nil {
			return e
		}
		return do(&b.lease, func() { r.Stamp(b.etag, b.modified) })
	})
}

// leaseAction reads the action and its headers, and returns what carries it out
// and answers; stamp sets the headers of the resource.
func (r *request) leaseAction() (func(l *lease, stamp func()) *restxml.Error, *restxml.Error) {
	id, e := leaseID(r.Call, "X-Ms-Lease-Id")
	if e != nil {
		return nil, e
	}
	proposed, e := leaseID(r.Call, "X-Ms-Proposed-Lease-Id")
	if e != nil {
		return nil, e
	}
	need := func(ok bool, header string) *restxml.Error {
		if !ok {
			return restxml.MissingHeader(header)
		}
		return nil
	}
	answer := func(l *lease, status int, stamp func()) *restxml.Error {
		stamp()
		r.Set("X-Ms-Lease-Id", l.id)
		r.Empty(status)
		return nil
	}
	switch action := r.Header("X-Ms-Lease-Action"); action {
	case "acquire":
		d, e := r.leaseSeconds("X-Ms-Lease-Duration", 15, true)
		if e == nil {
			e = need(r.Header("X-Ms-Lease-Duration") != "", "x-ms-lease-duration")
		}
		return func(l *lease, stamp func()) *restxml.Error {
			if e := l.acquire(r.Now, proposed, d); e != nil {
				return e
			}
			return answer(l, http.StatusCreated, stamp)
		}, e
	case "renew":
		return func(l *lease, stamp func()) *restxml.Error {
			if e := l.renew(r.Now, id); e != nil {
				return e
			}
			return answer(l, http.StatusOK, stamp)
		}, need(id != "", "x-ms-lease-id")
	case "change":
		e := need(id != "", "x-ms-lease-id")
		if e == nil {
			e = need(proposed != "", "x-ms-proposed-lease-id")
		}
		return func(l *lease, stamp func()) *restxml.Error {
			if e := l.change(r.Now, id, proposed); e != nil {
				return e
			}
			return answer(l, http.StatusOK, stamp)
		}, e
	case "release":
		return func(l *lease, stamp func()) *restxml.Error {
			if e := l.release(r.Now, id); e != nil {
				return e
			}
			return answer(l, http.StatusOK, stamp)
		}, need(id != "", "x-ms-lease-id")
	case "break":
		period, e := r.leaseSeconds("X-Ms-Lease-Break-Period", 0, false)
		return func(l *lease, stamp func()) *restxml.Error {
			left, e := l.end(r.Now, period)
			if e != nil {
				return e
			}
			stamp()
			r.Set("X-Ms-Lease-Time", strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10))
			r.Empty(http.StatusAccepted)
			return nil
		}, e
	case "":
		return nil, restxml.MissingHeader("x-ms-lease-action")
	default:
		return nil, restxml.InvalidHeader("x-ms-lease-action", action)
	}
}

// leaseSeconds reads low to 60 seconds; -1 is forever where infinite says so. An
// absent header is negative.
func (r *request) leaseSeconds(name string, low int, infinite bool) (time.Duration, *restxml.Error) {
	text := r.Header(name)
	if text == "" {
		return forever, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && n == -1 && infinite {
		return forever, nil
	}
	if err != nil || n < low || n > 60 {
		return 0, restxml.InvalidHeader(name, text)
	}
	return time.Duration(n) * time.Second, nil
}
