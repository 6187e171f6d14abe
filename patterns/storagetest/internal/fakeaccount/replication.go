package fakeaccount

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// replication copies the changes of the primary to the secondary. The zero value is an
// account without a secondary. It is safe for concurrent use.
type replication struct {
	mu      sync.Mutex
	enabled atomic.Bool
	begun   bool // Replicate was called
	lag     time.Duration
	synced  time.Time // the secondary contains every change that the primary made before
	changes []replica // not yet on the secondary, in the order in which they were made
}

// replica is a change to the primary, and how the secondary makes it.
type replica struct {
	at    time.Time
	apply func()
}

// Replicate sets how long after a change of the primary the secondary contains it. The first
// call copies what the primary contains.
func (a *Account) Replicate(lag time.Duration) {
	p := &a.replication
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	a.synchronize(now)
	p.lag = lag
	if p.begun {
		return
	}
	p.begun = true
	p.enabled.Store(true)
	p.synced = now
	for _, c := range p.changes {
		c.apply()
	}
	p.changes = nil
	for _, apply := range a.copies(&request.Request{}) {
		apply()
	}
}

// ReplicateFromTheStart adds a secondary with this lag to an empty account, until Replicate is called.
func (a *Account) ReplicateFromTheStart(lag time.Duration) {
	p := &a.replication
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag, p.synced = lag, time.Now()
	p.enabled.Store(true)
}

// SetDown begins or ends an outage of each region. The secondary receives no changes while
// one of them is down.
func (a *Account) SetDown(primary, secondary bool) {
	p := &a.replication
	p.mu.Lock()
	defer p.mu.Unlock()
	a.synchronize(time.Now())
	a.primary.down.Store(primary)
	a.secondary.down.Store(secondary)
}

// record notes a change of the primary, for the secondary. The state is read after the
// change. It may already contain a later change of the same resource, which is repeated.
func (a *Account) record(r *request.Request) {
	p := &a.replication
	if !p.enabled.Load() || r.Op.ReadOnly() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.synchronize(time.Now())
	for _, apply := range a.copies(r) {
		p.changes = append(p.changes, replica{r.LocalTime(), apply})
	}
}

// copies returns functions that bring what r may have changed to the secondary, in its
// present state. The zero Request means everything.
func (a *Account) copies(r *request.Request) (apply []func()) {
	if r.Service == "" || r.Service == op.Table {
		apply = append(apply, a.primary.tables.Copy(a.secondary.tables, r))
	}
	if r.Service == "" || r.Service == op.Queue {
		apply = append(apply, a.primary.queues.Copy(a.secondary.queues, r))
	}
	if r.Service == "" || r.Service == op.Blob {
		apply = append(apply, a.primary.blobs.Copy(a.secondary.blobs, r))
	}
	return apply
}

// synchronize makes the changes on the secondary for which the lag has passed, and returns
// the time before which it contains all of them. The caller holds the lock.
func (a *Account) synchronize(now time.Time) time.Time {
	p := &a.replication
	if a.primary.down.Load() || a.secondary.down.Load() {
		return p.synced
	}
	until := now.Add(-p.lag)
	if until.After(p.synced) {
		p.synced = until
	}
	done := 0
	for done < len(p.changes) && !p.changes[done].at.After(until) {
		p.changes[done].apply()
		done++
	}
	clear(p.changes[:done])
	p.changes = p.changes[done:]
	return p.synced
}

// catchUp makes the changes that are due on the secondary, and returns the time before
// which it contains all of them.
func (a *Account) catchUp() time.Time {
	a.replication.mu.Lock()
	defer a.replication.mu.Unlock()
	return a.synchronize(time.Now())
}

// notOnSecondary returns the error for a request that the secondary does not carry out.
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
func (a *Account) notOnSecondary(r *request.Request) *reply.Error {
	message := ""
	switch pointRead := r.Batch != nil && !r.Batch.Changes; {
	case !a.replication.enabled.Load():
		message = "Read operations are currently disabled."
	case r.Refusal != nil || r.Op.ReadOnly() || pointRead:
		return nil
	default:
		message = "Write operations are not allowed."
	}
	return reply.New(http.StatusForbidden, "InsufficientAccountPermissions", message)
}

// isStats reports whether r asks for the statistics of a service, which only the secondary
// returns.
func isStats(r *request.Request) bool {
	return r.Secondary && r.Method == http.MethodGet && (r.Op == op.TableStats || r.Op == op.QueueStats || r.Op == op.BlobStats)
}

// stats replies to Get Table, Queue or Blob Service Stats.
// https://learn.microsoft.com/rest/api/storageservices/get-table-service-stats
func (a *Account) stats(w http.ResponseWriter, r *request.Request) {
	synced := a.catchUp()
	h := w.Header()
	reply.Head(h, r.Header, "storagetest", r.Time())
	h.Set("Content-Type", "application/xml")
	if r.Service == op.Queue {
		h.Set("Cache-Control", "no-cache")
	}
	var x xmlservice.XML
	x.Begin("StorageServiceStats")
	x.Begin("GeoReplication")
	x.Text("Status", "live")
	x.Text("LastSyncTime", xmlservice.HTTPTime(synced.Add(a.skew)))
	x.End("GeoReplication")
	x.End("StorageServiceStats")
	w.WriteHeader(http.StatusOK)
	reply.Write(w, x.Bytes())
}
