package xmlservice

import "time"

// BeingDeleted is how long the name of a deleted container or queue stays blocked, which is
// at least 30 seconds in the service.
// https://learn.microsoft.com/rest/api/storageservices/delete-container
const BeingDeleted = 30 * time.Second

// Tombstones is a set of names that are being deleted. The zero value is empty. It is
// not safe for concurrent use.
type Tombstones struct {
	until map[string]time.Time
	order []string // in order of deletion, and so of expiry
}

// Add marks name as being deleted from now on.
func (t *Tombstones) Add(name string, now time.Time) {
	t.sweep(now)
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	t.until[name] = now.Add(BeingDeleted)
	t.order = append(t.order, name)
}

// Has reports whether name is still being deleted.
func (t *Tombstones) Has(name string, now time.Time) bool {
	t.sweep(now)
	_, ok := t.until[name]
	return ok
}

func (t *Tombstones) sweep(now time.Time) {
	n := 0
	for n < len(t.order) && !now.Before(t.until[t.order[n]]) {
		delete(t.until, t.order[n])
		n++
	}
	if n > 0 {
		t.order = append([]string(nil), t.order[n:]...)
	}
}
