package xmlservice

import (
	"maps"
	"time"
)

// BeingDeleted is how long the name of a deleted container or queue stays blocked, which is
// at least 30 seconds in the service.
// https://learn.microsoft.com/rest/api/storageservices/delete-container
const BeingDeleted = 30 * time.Second

// Tombstones is a set of names that are being deleted. The zero value is empty. It is
// not safe for concurrent use.
type Tombstones struct{ until map[string]time.Time }

// Add marks name as being deleted from now on.
func (t *Tombstones) Add(name string, now time.Time) {
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	maps.DeleteFunc(t.until, func(_ string, until time.Time) bool { return !now.Before(until) })
	t.until[name] = now.Add(BeingDeleted)
}

// Has reports whether name is still being deleted.
func (t *Tombstones) Has(name string, now time.Time) bool { return now.Before(t.until[name]) }
