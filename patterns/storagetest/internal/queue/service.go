package queue

import (
	"net/http"
	"sync"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Service is the Queue service of one account. Create it with [New]. It is safe for
// concurrent use.
type Service struct {
	mu      sync.Mutex
	queues  map[string]*queue
	dying   xmlservice.Tombstones
	ticks   xmlservice.Ticks
	setting xmlservice.Settings
}

type queue struct {
	name     string
	meta     xmlservice.Metadata
	policies []xmlservice.Policy
	box      box
}

// New returns a service without queues.
func New() *Service { return &Service{queues: map[string]*queue{}} }

// Serve carries out one request.
func (s *Service) Serve(w http.ResponseWriter, r *request.Request) {
	c, e := xmlservice.Begin(w, r)
	if e == nil {
		e = r.Refusal
	}
	if e == nil {
		e = s.carryOut(c)
	}
	if e != nil {
		c.Refuse(e)
	}
}

func (s *Service) carryOut(c *xmlservice.Call) *reply.Error {
	switch c.Op {
	case op.QueueList:
		return s.list(c)
	case op.QueueGetProperties, op.QueueSetProperties:
		return c.Settings(&s.setting, false)
	case op.QueueCreate:
		return s.create(c)
	case op.QueueDrop:
		return s.delete(c)
	case op.QueueGetMetadata:
		return s.getMetadata(c)
	case op.QueueSetMetadata:
		return s.setMetadata(c)
	case op.QueueGetACL:
		return s.getACL(c)
	case op.QueueSetACL:
		return s.setACL(c)
	case op.QueuePut:
		return s.put(c)
	case op.QueueGet:
		return s.get(c)
	case op.QueuePeek:
		return s.peek(c)
	case op.QueueUpdate:
		return s.update(c)
	case op.QueueDelete:
		return s.remove(c)
	case op.QueueClear:
		return s.clear(c)
	}
	return reply.UnsupportedVerb()
}

// on calls do with the queue that the request names, with s.mu held.
func (s *Service) on(c *xmlservice.Call, do func(*queue) *reply.Error) *reply.Error {
	c.Lock(&s.mu)
	defer s.mu.Unlock()
	q := s.queues[c.Resource]
	if q == nil {
		return reply.New(http.StatusNotFound, "QueueNotFound", "The specified queue does not exist.")
	}
	q.box.sweep(c.Now)
	return do(q)
}
