package queue

import (
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Copy reads the present state of what r may have changed, and returns a function that
// stores it in to. The zero Request means the whole service.
func (s *Service) Copy(to *Service, r *request.Request) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{r.Resource}
	if r.Resource == "" {
		names = slices.Collect(maps.Keys(s.queues))
	}
	copies := make([]*queue, len(names))
	for i, name := range names {
		copies[i] = s.queues[name].copy()
	}
	settings := s.setting.Copy(&to.setting)
	return func() {
		settings()
		to.mu.Lock()
		defer to.mu.Unlock()
		for i, name := range names {
			if copies[i] == nil {
				delete(to.queues, name)
			} else {
				to.queues[name] = copies[i]
			}
		}
	}
}

// copy returns a copy of q with its messages, nil if q is nil.
func (q *queue) copy() *queue {
	if q == nil {
		return nil
	}
	c := &queue{name: q.name, meta: q.meta, policies: q.policies, box: newBox()}
	for _, m := range q.box.byID {
		m := *m
		c.box.add(&m)
	}
	return c
}
