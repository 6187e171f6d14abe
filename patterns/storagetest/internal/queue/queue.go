package queue

import (
	"net/http"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// https://learn.microsoft.com/rest/api/storageservices/create-queue4
func (s *Service) create(c *xmlservice.Call) *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	name := c.Resource
	c.Lock(&s.mu)
	defer s.mu.Unlock()
	if s.dying.Has(name, c.Now) {
		return reply.New(http.StatusConflict, "QueueBeingDeleted", "The specified queue is being deleted.")
	}
	if q := s.queues[name]; q != nil {
		if !q.meta.Equal(meta) {
			return reply.New(http.StatusConflict, "QueueAlreadyExists", "The specified queue already exists.")
		}
		return c.Empty(http.StatusNoContent)
	}
	s.queues[name] = &queue{name: name, meta: meta, box: newBox()}
	return c.Empty(http.StatusCreated)
}

// https://learn.microsoft.com/rest/api/storageservices/delete-queue3
func (s *Service) delete(c *xmlservice.Call) *reply.Error {
	return s.on(c, func(*queue) *reply.Error {
		delete(s.queues, c.Resource)
		s.dying.Add(c.Resource, c.Now)
		return c.Empty(http.StatusNoContent)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/get-queue-metadata
func (s *Service) getMetadata(c *xmlservice.Call) *reply.Error {
	return s.on(c, func(q *queue) *reply.Error {
		q.meta.Headers(c.W.Header())
		c.Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(len(q.box.byID)))
		return c.Empty(http.StatusOK)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-metadata
func (s *Service) setMetadata(c *xmlservice.Call) *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	return s.on(c, func(q *queue) *reply.Error {
		q.meta = meta
		return c.Empty(http.StatusNoContent)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/get-queue-acl
func (s *Service) getACL(c *xmlservice.Call) *reply.Error {
	return s.on(c, func(q *queue) *reply.Error {
		return c.XML(http.StatusOK, xmlservice.PoliciesXML(q.policies))
	})
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-acl
func (s *Service) setACL(c *xmlservice.Call) *reply.Error {
	policies, e := c.Policies("raup")
	if e != nil {
		return e
	}
	return s.on(c, func(q *queue) *reply.Error {
		q.policies = policies
		return c.Empty(http.StatusNoContent)
	})
}

// Policies returns the stored access policies of a queue, nil if it does not exist. The
// caller must not change them.
func (s *Service) Policies(name string) []xmlservice.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[name]; q != nil {
		return q.policies
	}
	return nil
}

// https://learn.microsoft.com/rest/api/storageservices/list-queues1
func (s *Service) list(c *xmlservice.Call) *reply.Error {
	page, e := c.Page(func(string) *reply.Error {
		return reply.New(http.StatusBadRequest, "InvalidMarker", "The specified marker is invalid.").Because("marker: not a NextMarker of the service")
	})
	if e != nil {
		return e
	}
	include, e := c.Include("metadata")
	if e != nil {
		return e
	}
	return xmlservice.List(c, "Queues", &s.mu, s.queues, page, func(x *xmlservice.XML, name string, q *queue) {
		x.Begin("Queue")
		x.Text("Name", name)
		if include["metadata"] {
			q.meta.XML(x)
		}
		x.End("Queue")
	})
}
