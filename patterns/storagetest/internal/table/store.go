package table

import (
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// deleteTime is how long the name of a deleted table stays blocked at least.
// https://learn.microsoft.com/rest/api/storageservices/delete-table#remarks
const deleteTime = 40 * time.Second

// store contains the tables of the account, by their names in lower case.
type store struct {
	mu      sync.RWMutex
	tables  map[string]*table
	deleted map[string]time.Time // when the table with this name was deleted
	clock   clock

	deletion time.Duration // how long a name stays blocked
}

// table is one table. A request holds its lock until it ends, so that it reads one state.
type table struct {
	name string // as written when the table was created

	mu       sync.RWMutex
	rows     sorted
	shapes   shapes
	policies []xmlservice.Policy
	gone     bool

	original *table // of the copy of a table
}

// lookup returns the table with this name, in upper or lower case, or the error for now.
func (s *store) lookup(name string, now time.Time) (*table, *reply.Error) {
	if t := s.named(name); t != nil {
		return t, nil
	}
	return nil, s.missing(name, now)
}

// named returns the table with this name, in upper or lower case, nil if there is none.
func (s *store) named(name string) *table {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.tables[name]; ok {
		return t
	}
	return s.tables[strings.ToLower(name)]
}

// missing returns the error for the name of a table that does not exist.
func (s *store) missing(name string, now time.Time) *reply.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocked(strings.ToLower(name), now) {
		return errTableDeleting
	}
	return errTableNotFound
}

// blocked reports whether the name is blocked by a deleted table. The caller holds s.mu.
func (s *store) blocked(lower string, now time.Time) bool {
	at, ok := s.deleted[lower]
	if ok && now.Sub(at) >= s.deletion {
		delete(s.deleted, lower)
		return false
	}
	return ok
}

// read calls do with the table locked for reading. It returns an error if the table was
// deleted after it was looked up.
func (s *store) read(t *table, now time.Time, do func()) *reply.Error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.gone {
		return s.missing(t.name, now)
	}
	do()
	return nil
}

func (s *store) create(name string, now time.Time) *reply.Error {
	if err := checkTable(name); err != nil {
		return err
	}
	lower := strings.ToLower(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocked(lower, now) {
		return errTableDeleting
	}
	if s.tables[lower] != nil {
		return errTableExists
	}
	s.tables[lower] = &table{name: name}
	return nil
}

// drop deletes a table. Deleting it again, while its name is still blocked, is 404 as in recordings of the service.
func (s *store) drop(name string, now time.Time) *reply.Error {
	lower := strings.ToLower(name)
	s.mu.Lock()
	t := s.tables[lower]
	if t == nil {
		s.mu.Unlock()
		return errResourceNotFound
	}
	delete(s.tables, lower)
	s.deleted[lower] = now
	s.mu.Unlock()

	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone, t.rows, t.shapes = true, sorted{}, nil
	return nil
}

// DelayDeletion sets how long the name of a deleted table stays blocked.
func (s *Service) DelayDeletion(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deletion = d
}
