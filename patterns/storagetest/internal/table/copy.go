package table

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Copy reads the present state of what r may have changed, and returns a function that
// stores it in to. The zero Request means the whole service.
func (s *Service) Copy(to *Service, r *request.Request) func() {
	name := r.Resource
	if name == "" {
		return s.copyAll(to)
	}
	t := s.named(name)
	if t == nil {
		return func() { to.forget(name) }
	}
	return t.copy(to, r.Rows)
}

func (s *Service) copyAll(to *Service) func() {
	apply := []func(){s.props.Copy(&to.props)}
	for _, t := range s.list("") {
		t.mu.RLock()
		var all []keys.Key
		for r := range t.rows.from("", "") {
			all = append(all, keys.Key{Partition: r.partition(), Row: r.key()})
		}
		t.mu.RUnlock()
		apply = append(apply, t.copy(to, all))
	}
	return func() {
		for _, f := range apply {
			f()
		}
	}
}

// copy returns a function that stores the policies and the rows with these keys, as they are
// now, in the copy of t.
func (t *table) copy(to *Service, at []keys.Key) func() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.gone {
		return func() { to.forget(t.name) }
	}
	policies := t.policies
	rows := make([]*row, len(at))
	for i, k := range at {
		rows[i] = t.rows.get(k.Partition, k.Row)
	}
	at = slices.Clone(at)
	return func() {
		copied := to.copyOf(t)
		copied.mu.Lock()
		defer copied.mu.Unlock()
		copied.policies = policies
		for i, k := range at {
			if rows[i] == nil {
				copied.rows.remove(k.Partition, k.Row)
			} else {
				copied.rows.put(rows[i])
			}
		}
	}
}

// copyOf returns the copy of t, which is created if a table with its name does not exist or
// is the copy of another table.
func (s *store) copyOf(t *table) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	lower := strings.ToLower(t.name)
	copied := s.tables[lower]
	if copied == nil || copied.original != t {
		copied = &table{name: t.name, original: t}
		s.tables[lower] = copied
	}
	return copied
}

func (s *store) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, strings.ToLower(name))
}
