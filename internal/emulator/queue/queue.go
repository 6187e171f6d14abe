package queue

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

func (s *Service) queue(c *restxml.Call, name string) *restxml.Error {
	read := c.R.Method == http.MethodGet || c.R.Method == http.MethodHead
	switch comp := c.Query.Get("comp"); comp {
	case "":
		switch c.R.Method {
		case http.MethodPut:
			return s.create(c, name)
		case http.MethodDelete:
			return s.delete(c, name)
		}
	case "metadata":
		switch {
		case read:
			return s.getMetadata(c, name)
		case c.R.Method == http.MethodPut:
			return s.setMetadata(c, name)
		}
	case "acl":
		switch {
		case read:
			return s.getACL(c, name)
		case c.R.Method == http.MethodPut:
			return s.setACL(c, name)
		}
	default:
		return restxml.InvalidQuery("comp", comp, "Unknown operation.")
	}
	return restxml.UnsupportedVerb()
}

// https://learn.microsoft.com/rest/api/storageservices/create-queue4
func (s *Service) create(c *restxml.Call, name string) *restxml.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	c.Lock(&s.mu)
	defer s.mu.Unlock()
	if s.dying.Holds(name, c.Now) {
		return restxml.Refuse(http.StatusConflict, "QueueBeingDeleted", "The specified queue is being deleted.")
	}
	if q := s.queues[name]; q != nil {
		if !q.meta.Equal(meta) {
			return restxml.Refuse(http.StatusConflict, "QueueAlreadyExists", "The specified queue already exists.")
		}
		c.Empty(http.StatusNoContent)
		return nil
	}
	s.queues[name] = &queue{name: name, meta: meta, box: newBox()}
	c.Empty(http.StatusCreated)
	return nil
}

// https://learn.microsoft.com/rest/api/storageservices/delete-queue3
func (s *Service) delete(c *restxml.Call, name string) *restxml.Error {
	return s.on(c, name, func(*queue) *restxml.Error {
		delete(s.queues, name)
		s.dying.Bury(name, c.Now)
		c.Empty(http.StatusNoContent)
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/get-queue-metadata
func (s *Service) getMetadata(c *restxml.Call, name string) *restxml.Error {
	return s.on(c, name, func(q *queue) *restxml.Error {
		q.meta.Headers(c.W.Header())
		c.Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(len(q.box.byID)))
		c.Empty(http.StatusOK)
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-metadata
func (s *Service) setMetadata(c *restxml.Call, name string) *restxml.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	return s.on(c, name, func(q *queue) *restxml.Error {
		q.meta = meta
		c.Empty(http.StatusNoContent)
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/get-queue-acl
func (s *Service) getACL(c *restxml.Call, name string) *restxml.Error {
	return s.on(c, name, func(q *queue) *restxml.Error {
		c.XML(http.StatusOK, restxml.PoliciesXML(q.policies))
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-acl
func (s *Service) setACL(c *restxml.Call, name string) *restxml.Error {
	policies, e := c.Policies("raup")
	if e != nil {
		return e
	}
	return s.on(c, name, func(q *queue) *restxml.Error {
		q.policies = policies
		c.Empty(http.StatusNoContent)
		return nil
	})
}

// Policies are the stored access policies of a queue, nil when there is no such
// queue: for the mount, which checks signatures. The caller must not change them.
func (s *Service) Policies(name string) []restxml.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[name]; q != nil {
		return q.policies
	}
	return nil
}

// https://learn.microsoft.com/rest/api/storageservices/list-queues1
func (s *Service) list(c *restxml.Call) *restxml.Error {
	page, e := c.Page(func(string) *restxml.Error {
		return restxml.Refuse(http.StatusBadRequest, "InvalidMarker", "The specified marker is invalid.")
	})
	if e != nil {
		return e
	}
	include, e := c.Include("metadata")
	if e != nil {
		return e
	}
	var x restxml.XML
	x.Begin("EnumerationResults", "ServiceEndpoint", c.Endpoint())
	page.Echo(&x)
	x.Begin("Queues")
	c.Lock(&s.mu)
	names := slices.Sorted(maps.Keys(s.queues))
	n, next := 0, ""
	for _, name := range names {
		if name < page.From || !strings.HasPrefix(name, page.Prefix) {
			continue
		}
		if n == page.Max || n == page.Scan {
			next = name
			break
		}
		n++
		x.Begin("Queue")
		x.Text("Name", name)
		if include["metadata"] {
			s.queues[name].meta.XML(&x)
		}
		x.End("Queue")
	}
	s.mu.Unlock()
	x.End("Queues")
	c.Count(n, 0)
	x.Text("NextMarker", page.Next(next))
	x.End("EnumerationResults")
	c.XML(http.StatusOK, &x)
	return nil
}
