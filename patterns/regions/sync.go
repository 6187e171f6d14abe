package regions

import (
	"cmp"
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

// lastSync is the Last Sync Time, cached. An old one is as true as a new one, if the account has
// the same secondary: it only makes ages larger. The zero lastSync knows none.
type lastSync struct {
	mu    sync.Mutex
	time  time.Time     // by the service
	asked time.Time     // by this machine, when it was requested last
	ended chan struct{} // closed when that request has ended
}

// before returns a Last Sync Time that was valid before the call, so that a read which is sent
// afterwards finds all changes before it. It is zero if none is known. At most one request,
// if the last was made syncEvery ago or earlier.
func (p *Pair) before(ctx context.Context) time.Time {
	s := &p.synced
	s.mu.Lock()
	defer s.mu.Unlock()
	old := time.Since(s.asked) >= syncEvery
	if old {
		s.asked, s.ended = time.Now(), make(chan struct{})
		go p.requestSync(s.ended)
	}
	if old || s.time.IsZero() {
		ended := s.ended
		s.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
	return s.time
}

// requestSync requests the Last Sync Time, and then closes ended. It does not depend on the
// read that needed it first, because others wait for it, too.
func (p *Pair) requestSync(ended chan<- struct{}) {
	defer close(ended)
	service := p.service.Load()
	if service == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	stats, err := service.GetStatistics(policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}), nil)
	if err == nil && stats.GeoReplication != nil {
		p.synced.mu.Lock()
		defer p.synced.mu.Unlock()
		p.synced.time = *cmp.Or(stats.GeoReplication.LastSyncTime, new(time.Time)) // nil while a new secondary is filled
	}
}

// ageOf returns how old the rows of a reply of the secondary may be. Date has full seconds.
func ageOf(h http.Header, synced time.Time) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || synced.IsZero() {
		return UnknownAge
	}
	return max(date.Add(time.Second).Sub(synced), 0)
}
