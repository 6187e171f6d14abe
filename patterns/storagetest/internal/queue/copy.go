package queue

import (
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Copy reads the present state of what r may have changed, and returns a function that
// stores it in to. The zero Request means the whole service.
func (s *Service) Copy(to *Service, r *request.Request) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.setting.Copy(&to.setting)
	queues := xmlservice.Copies(s.queues, r.Resource, (*queue).copy, &to.mu, func(name string, q *queue) {
		if q == nil {
			delete(to.queues, name)
		} else {
			to.queues[name] = q
		}
	})
	return func() { settings(); queues() }
}

// copy returns a copy of q with its messages.
func (q *queue) copy() *queue {
	c := &queue{name: q.name, meta: q.meta, policies: q.policies, box: newBox()}
	for _, m := range q.box.byID {
		m := *m
		c.box.add(&m)
	}
	return c
}
