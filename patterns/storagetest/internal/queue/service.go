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
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		c.Set("Cache-Control", "no-cache")
	}
	if e == nil {
		e = r.Refusal
	}
	if e == nil {
		e = operations[c.Op](s, c) // a request without an operation has a Refusal
	}
	if e != nil {
		c.Refuse(e)
	}
}

// operations are the functions that carry the operations out.
var operations = map[op.Op]func(*Service, *xmlservice.Call) *reply.Error{
	op.QueueList:          (*Service).list,
	op.QueueGetProperties: (*Service).properties,
	op.QueueSetProperties: (*Service).properties,
	op.QueueCreate:        (*Service).create,
	op.QueueDrop:          (*Service).delete,
	op.QueueGetMetadata:   (*Service).getMetadata,
	op.QueueSetMetadata:   (*Service).setMetadata,
	op.QueueGetACL:        (*Service).getACL,
	op.QueueSetACL:        (*Service).setACL,
	op.QueuePut:           (*Service).put,
	op.QueueGet:           (*Service).get,
	op.QueuePeek:          (*Service).peek,
	op.QueueUpdate:        (*Service).update,
	op.QueueDelete:        (*Service).remove,
	op.QueueClear:         (*Service).clear,
}

func (s *Service) properties(c *xmlservice.Call) *reply.Error { return c.Settings(&s.setting, false) }

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
