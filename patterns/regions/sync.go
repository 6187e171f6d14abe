package regions

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

const (
	// syncEvery is the least time between two requests for the Last Sync Time.
	syncEvery = 15 * time.Second

	// syncTimeout is how long a read waits for it.
	syncTimeout = time.Second
)

// lastSync is the Last Sync Time, cached. An old one is as true as a new one: it only makes
// ages larger. The zero lastSync knows none.
type lastSync struct {
	mu      sync.Mutex
	time    time.Time     // by the service
	asked   time.Time     // by this machine, when it was requested last
	pending chan struct{} // closed when the request in progress ends, nil without one
}

// before returns a Last Sync Time that was valid before the call, so that a read which is sent
// afterwards finds all changes before it. It is zero if none is known. At most one request,
// if the last was made syncEvery ago or earlier.
func (p *Pair) before(ctx context.Context) time.Time {
	s := &p.synced
	s.mu.Lock()
	for s.pending != nil && s.time.IsZero() {
		pending := s.pending
		s.mu.Unlock()
		select {
		case <-pending:
		case <-ctx.Done():
			return time.Time{}
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if s.pending != nil || !s.asked.IsZero() && time.Since(s.asked) < syncEvery {
		return s.time
	}
	s.pending = make(chan struct{})
	s.mu.Unlock()
	at := p.requestSync(ctx)
	s.mu.Lock()
	close(s.pending)
	s.pending = nil
	if ctx.Err() == nil {
		s.asked = time.Now()
	}
	if at.After(s.time) {
		s.time = at
	}
	return s.time
}

// requestSync requests the Last Sync Time, zero if it is not available.
func (p *Pair) requestSync(ctx context.Context) time.Time {
	service := p.service.Load()
	if service == nil {
		return time.Time{}
	}
	// The values of ctx are those of a read.
	own, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	stats, err := service.GetStatistics(policy.WithRetryOptions(own, policy.RetryOptions{MaxRetries: -1}), nil)
	if err != nil || stats.GeoReplication == nil || stats.GeoReplication.LastSyncTime == nil {
		return time.Time{}
	}
	return *stats.GeoReplication.LastSyncTime
}

// ageOf returns how old the rows of a reply of the secondary may be. Date has full seconds.
func ageOf(h http.Header, synced time.Time) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || synced.IsZero() {
		return UnknownAge
	}
	return max(date.Add(time.Second).Sub(synced), 0)
}
