package blob

import (
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Copy reads the present state of what r may have changed, and returns a function that
// stores it in to. The zero Request means the whole service.
func (s *Service) Copy(to *Service, r *request.Request) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.setting.Copy(&to.setting)
	copied := func(ct *container) *container { return ct.copy(r.Name) }
	containers := xmlservice.Copies(s.containers, r.Resource, copied, &to.mu, func(name string, ct *container) { to.restore(name, ct, r.Name) })
	return func() { settings(); containers() }
}

// copy returns a copy of ct with the blobs of one name, or with all if name is "".
func (ct *container) copy(name string) *container {
	c := *ct
	c.blobs = nil
	for _, b := range ct.blobs {
		if name == "" || b.name == name {
			c.blobs = append(c.blobs, b.copy())
		}
	}
	return &c
}

// copy returns a copy of b that shares nothing which a request changes in place.
func (b *blob) copy() *blob {
	c := *b
	c.staged = maps.Clone(b.staged)
	c.snapshots = nil
	for _, s := range b.snapshots {
		c.snapshots = append(c.snapshots, s.copy())
	}
	return &c
}

// restore stores a copy of a container. If it contains the blobs of one name only, the
// others stay as they are. The caller holds s.mu.
func (s *Service) restore(container string, c *container, name string) {
	old := s.containers[container]
	switch {
	case c == nil:
		delete(s.containers, container)
		return
	case name != "" && old != nil:
		changed := c.blobs
		c.blobs = slices.DeleteFunc(old.blobs, func(b *blob) bool { return b.name == name })
		for _, b := range changed {
			c.add(b)
		}
	}
	s.containers[container] = c
}
