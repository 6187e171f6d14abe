package restxml

import "time"

// BeingDeleted is how long a deleted container's or queue's name stays taken:
// the service says at least 30 seconds.
// https://learn.microsoft.com/rest/api/storageservices/delete-container
const BeingDeleted = 30 * time.Second

// Tombstones remembers names that are being deleted. The zero value is empty. Not
// safe for concurrent use.
type Tombstones struct {
	until map[string]time.Time
	order []string // by time of death, which is the order of expiry
}

// Bury marks name as being deleted from now on.
func (t *Tombstones) Bury(name string, now time.Time) {
	t.sweep(now)
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	t.until[name] = now.Add(BeingDeleted)
	t.order = append(t.order, name)
}

// Holds reports whether name is still being deleted.
func (t *Tombstones) Holds(name string, now time.Time) bool {
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
